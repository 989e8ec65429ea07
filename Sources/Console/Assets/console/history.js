// What has happened to a conversation: its other ids, merges, participants and metadata, and how it was after each event.

import { call, get } from "./api.js"
import { positionLink, sentence } from "./events.js"
import { nameOf } from "./format.js"
import { attempt, h2, idText, jsonView, list, loading, p, smallButton, timeNode } from "./ui.js"
import { count, element } from "../shared/dom.js"

const TYPES = ["created", "matched", "merged", "shown", "announced", "hidden", "updated.participants", "updated.metadata"]
  .map(type => `conversation.${type}`).join(",")

export async function historyTab(view) {
  const path = view.path("conversations", view.id)
  const aliases = loading(() => get(`${path}/aliases`), found => found.length
    ? element("ul", {}, found.map(alias => element("li", {}, idText(nameOf(alias.id)), " since ", timeNode(alias.merged_at),
      " (", positionLink(view, alias.position), ")")))
    : p("It has no other id."))
  const asOf = (event, place) => attempt(async () =>
    place.replaceChildren(jsonView((await call("GET", path, { query: { as_of: event.position } })).text)))
  const events = list({
    label: "History", columns: ["Position", "Time", "Event", "As of"],
    fetch: async (before, limit) => {
      const { events, next, scanned } = await get(view.path("events"), {
        conversation: view.id, types: TYPES, order: "desc", include: "text", before, limit })
      const isPartial = events.length < limit && next > 1
      return { items: events, next: next > 1 && scanned ? next : null,
        note: isPartial ? `Searched back to position ${count(next)}.` : null }
    },
    row: event => {
      const place = element("div")
      return [positionLink(view, event.position), timeNode(event.at),
        sentence(view.app, event), [smallButton(() => asOf(event, place), "Show"), place]]
    },
    empty: [p("No event of this conversation is kept.")],
  })
  return { list: events, nodes: [h2("Other ids"), aliases, h2("Events"), events] }
}
