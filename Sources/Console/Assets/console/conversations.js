// The conversations of an application, and the frame of one conversation with its tabs.

import { call, pagesOf, readConversation } from "./api.js"
import { eventLink } from "./events.js"
import { CREATED, clearFilters, filters, replaceList } from "./filters.js"
import { nameOf } from "./format.js"
import { historyTab } from "./history.js"
import { metadataTab } from "./metadata.js"
import { participantsTab } from "./participants.js"
import { receiptsTab } from "./receipts.js"
import { go } from "./router.js"
import { timelineTab } from "./timeline.js"
import { badge, clipped, command, confirmButton, curl, facts, idText, link, list, p, span, tabBar, timeNode } from "./ui.js"
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
    label: "Conversations", columns: ["Participants", "Topic", "Distinct", "Messages", "Last activity", "Id"],
    fetch: pagesOf(view.path("conversations"), () => ({ ...queryOf(view), include: "details" })),
    row: item => [
      link(view.to("conversations", nameOf(item.id)), participantNames(item)),
      typeof item.metadata?.topic === "string" ? clipped(item.metadata.topic) : "",
      item.distinct ? "distinct" : "", count(item.total_message_count),
      timeNode(item.last_message_sent_at ?? item.created_at, true), idText(nameOf(item.id)),
    ],
    clear: clearFilters(view, FILTERS),
    empty: [p("This application has no conversations. Create the first one:"),
      command(curl("POST", view.path("conversations"), '{"participants":["ana","bo"]}'))],
  })
  let shown = make()
  return {
    title: "Conversations", list: shown,
    nodes: [filters(view, [
      { name: "participants", label: "Participants", placeholder: "ana,bo" },
      { name: "exact", label: "Only these", options: [["true", "yes"]] },
      { name: "distinct", label: "Distinct", options: [["true", "yes"], ["false", "no"]] },
      { name: "metadata", label: "Metadata", placeholder: "topic=rent" },
      ...CREATED,
    ], () => { shown = replaceList(view, shown, make()) }), shown],
  }
}

const TABS = [
  ["timeline", "Timeline", timelineTab], ["participants", "Participants", participantsTab],
  ["metadata", "Metadata", metadataTab], ["receipts", "Receipts", receiptsTab],
  ["history", "History", historyTab],
]

async function conversationPage(view) {
  const answer = await readConversation(view)
  const conversation = answer.json
  const winner = nameOf(conversation.id)
  const isAlias = winner.toLowerCase() !== view.id.toLowerCase()
  const tab = TABS.find(([name]) => name === (view.tab ?? "timeline"))
  if (!tab) return { title: "Page not found", nodes: [p("A conversation has no such tab.")] }
  const made = await tab[2]({ ...view, id: winner }, conversation, answer.headers.get("ETag"))
  const names = conversation.participants.slice(0, 3).map(one => one.display_name || one.user_id).join(", ")
  return {
    ...made,
    title: `${names || "Conversation"} · ${tab[1]}`,
    heading: participantNames(conversation),
    nodes: [
      isAlias ? element("p", { class: "notice" }, "The id ", idText(view.id), " is an alias: its conversation was merged into this one.") : null,
      facts([
        ["Id", idText(winner)], ["Created", timeNode(conversation.created_at)],
        ["Participants", count(conversation.participants_count ?? conversation.participants.length)],
        ["Distinct", conversation.distinct ? badge("distinct") : "no"],
        ["Messages", count(conversation.total_message_count)],
      ]),
      tabBar("Conversation", TABS, tab[0], name => view.to("conversations", winner, name),
        confirmButton("Delete", "write", "Delete this conversation?",
          `All participants lose conversation ${winner} and its messages. Nothing restores them.`,
          () => call("DELETE", view.path("conversations", winner)),
          ["The conversation was deleted. ", eventLink(view, "conversation.deleted")], () => go(view.to("conversations")),
          { typed: winner, class: "danger" })),
      made.nodes,
    ].flat(),
  }
}
