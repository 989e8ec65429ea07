// What happened to a conversation, read from the event log, newest first.

import { get, inApp } from "./api.js"
import { eventDetails, sentence } from "./events.js"
import { pathTo } from "./router.js"
import { link, list, p, timeNode } from "./ui.js"
import { count, element } from "../shared/dom.js"

const TYPES = ["conversation.created", "conversation.matched", "conversation.merged", "conversation.announced",
  "conversation.updated.participants", "conversation.updated.metadata", "conversation.deleted"].join(",")

export async function historyTab(view) {
  const shown = list({
    label: "History", columns: ["Position", "Time", "Event", ""],
    async fetch(cursor, size) {
      const answer = await get(inApp(view.app, "events"), {
        conversation: view.id, types: TYPES, order: "desc", before: cursor, limit: size, include: "text" })
      const last = answer.events.at(-1)
      const isOver = answer.events.length < size && !(answer.scanned >= 10_000)
      return {
        items: answer.events, next: isOver ? null : answer.next ?? last?.position,
        note: answer.events.length < size && !isOver ? `Searched ${count(answer.scanned)} events.` : null,
      }
    },
    row: event => [
      link(`${pathTo(view.app, "log")}?position=${event.position}`, count(event.position)), timeNode(event.at),
      sentence(view.app, event), eventDetails(event),
    ],
    empty: [p("The log has no event of this conversation any more, or it was imported.")],
  })
  return { ready: shown.ready, list: shown, nodes: [shown] }
}
