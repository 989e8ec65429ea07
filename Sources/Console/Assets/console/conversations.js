// The conversations of an application, and the frame of one conversation with its tabs.

import { call, inApp, pagesOf, writeButton } from "./api.js"
import { clearFilters, filters, isFiltered, replaceList } from "./filters.js"
import { nameOf } from "./format.js"
import { historyTab } from "./history.js"
import { metadataTab } from "./metadata.js"
import { participantsTab } from "./participants.js"
import { receiptsTab } from "./receipts.js"
import { go, pathTo } from "./router.js"
import { timelineTab } from "./timeline.js"
import { attempt, badge, clipped, command, confirmed, curl, facts, idText, link, list, p, say, span, tabBar, timeNode } from "./ui.js"
import { count, element } from "../shared/dom.js"

const FILTERS = ["participants", "exact", "distinct", "metadata", "created_after", "created_before"]

/** The query of the API for the filters in the address. */
function queryOf(view) {
  const { metadata, ...rest } = Object.fromEntries(FILTERS.map(name => [name, view.query[name]]))
  if (!metadata) return rest
  const [path, ...value] = metadata.split("=")
  return { ...rest, [`metadata.${path.trim()}`]: value.join("=").trim() }
}

/** The participants of a conversation in few words. */
export function participantNames(conversation, most = 3) {
  const shown = conversation.participants.slice(0, most)
  const more = (conversation.participants_count ?? conversation.participants.length) - shown.length
  return span(shown.map((one, index) => [index ? ", " : "", clipped(one.display_name || one.user_id)]).flat(),
    more > 0 ? ` and ${count(more)} more` : "", shown.length ? "" : "no participants")
}

export async function conversationsPage(view) {
  if (view.id) return conversationPage(view)
  const make = () => list({
    label: "Conversations", columns: ["Participants", "Topic", "Distinct", "Created", "Id"],
    fetch: pagesOf(inApp(view.app, "conversations"), () => queryOf(view)),
    row: item => [
      link(pathTo(view.app, "conversations", nameOf(item.id)), participantNames(item)),
      typeof item.metadata?.topic === "string" ? clipped(item.metadata.topic) : "",
      item.distinct ? "distinct" : "", timeNode(item.created_at, true), idText(nameOf(item.id)),
    ],
    clear: isFiltered(view, FILTERS) ? clearFilters(FILTERS) : null,
    empty: [p("This application has no conversations. Create the first one:"),
      command(curl("POST", inApp(view.app, "conversations"), '{"participants":["ana","bo"]}'))],
  })
  let shown = make()
  const page = {
    title: "Conversations", wide: true, list: shown,
    nodes: [filters(view, [
      { name: "participants", label: "Participants", placeholder: "ana,bo" },
      { name: "exact", label: "Only these", options: [["true", "yes"]] },
      { name: "distinct", label: "Distinct", options: [["true", "yes"], ["false", "no"]] },
      { name: "metadata", label: "Metadata", placeholder: "topic=rent" },
      { name: "created_after", label: "Created after", time: true },
      { name: "created_before", label: "Created before", time: true },
    ], () => { shown = replaceList(view, shown, make()) }), shown],
  }
  return page
}

const TABS = [
  ["timeline", "Timeline", timelineTab], ["participants", "Participants", participantsTab],
  ["metadata", "Metadata", metadataTab], ["receipts", "Receipts", receiptsTab],
  ["history", "History", historyTab],
]

async function conversationPage(view) {
  const path = inApp(view.app, "conversations", view.id)
  const answer = await call("GET", path)
  const conversation = answer.json
  const winner = nameOf(conversation.id)
  const isAlias = winner.toLowerCase() !== view.id.toLowerCase()
  const tab = TABS.find(([name]) => name === (view.tab ?? "timeline"))
  if (!tab) return { title: "Page not found", nodes: [p("A conversation has no such tab.")] }
  const made = await tab[2]({ ...view, id: winner }, conversation, answer.headers.get("ETag"))
  const names = conversation.participants.slice(0, 3).map(one => one.display_name || one.user_id).join(", ")
  return {
    ...made,
    title: `${names || "Conversation"} · ${tab[1]}`, wide: true,
    heading: participantNames(conversation),
    nodes: [
      isAlias ? element("p", { class: "notice" }, "The id ", idText(view.id), " is an alias: its conversation was merged into this one.") : null,
      facts([
        ["Id", idText(winner)], ["Created", timeNode(conversation.created_at)],
        ["Participants", count(conversation.participants_count ?? conversation.participants.length)],
        ["Distinct", conversation.distinct ? badge("distinct") : "no"],
      ]),
      tabBar("Conversation", TABS, tab[0], name => pathTo(view.app, "conversations", winner, name),
        writeButton("Delete", "write", () => remove(view, winner), { class: "danger" })),
      made.nodes,
    ].flat(),
  }
}

async function remove(view, id) {
  const sure = await confirmed("Delete this conversation?",
    `All participants lose conversation ${id} and its messages. Nothing restores them.`, "Delete", id)
  if (!sure) return
  await attempt(async () => {
    await call("DELETE", inApp(view.app, "conversations", id))
    say("The conversation was deleted. ", link(`${pathTo(view.app, "log")}?types=conversation.deleted`, "Event"))
    go(pathTo(view.app, "conversations"))
  })
}
