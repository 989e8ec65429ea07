// Which participants have received and read the newest messages: a table of messages and participants.

import { call, inApp, nextPage } from "./api.js"
import { nameOf } from "./format.js"
import { pathTo } from "./router.js"
import { clipped, inRow, link, loading, p, timeNode } from "./ui.js"
import { densePosition, statusCounts } from "./timeline.js"
import { count, element } from "../shared/dom.js"

const LETTERS = { sent: "S", delivered: "D", read: "R" }
const MOST_PARTICIPANTS = 50

export async function receiptsTab(view, conversation) {
  let from = null
  const path = inApp(view.app, "conversations", view.id, "messages")
  const people = conversation.participants.slice(0, MOST_PARTICIPANTS)
  const isWide = (conversation.participants_count ?? people.length) > conversation.participants.length
  const matrix = loading(async () => {
    const answer = await call("GET", path, { query: { page_size: 50, from_id: from, count: "none" } })
    return { messages: answer.json, next: nextPage(answer.headers) }
  }, ({ messages, next }) => messages.length ? [
    element("div", { class: "scroll" }, isWide ? wideTable(messages) : table(messages)),
    inRow(
      from ? element("button", { type: "button", on: { click() { from = null; matrix.reload() } } }, "Newest") : null,
      next ? element("button", { type: "button", on: { click() { from = next; matrix.reload() } } }, "Older") : null),
  ] : p("There are no messages."))

  const first = message => [
    element("th", { scope: "row" }, link(`${pathTo(view.app, "conversations", view.id)}?message=${nameOf(message.id)}`,
      count(densePosition(message)))),
    element("td", {}, timeNode(message.sent_at)),
  ]
  const table = messages => element("table", { class: "matrix" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Position"), element("th", { scope: "col" }, "Sent"),
      people.map(one => element("th", { scope: "col" }, clipped(one.display_name || one.user_id))))),
    element("tbody", {}, messages.map(message => element("tr", {}, first(message), people.map(one => {
      const state = message.recipient_status?.[one.id]
      const isSender = message.sender?.id === one.id
      return element("td", { class: `state ${state ?? ""}` }, isSender ? element("span", { title: "sender" }, "·")
        : state ? element("abbr", { title: state }, LETTERS[state]) : element("span", { title: "no entry" }, "–"))
    })))))
  const wideTable = messages => element("table", { class: "matrix" },
    element("thead", {}, element("tr", {}, ["Position", "Sent", "sent", "delivered", "read"].map(name => element("th", { scope: "col" }, name)))),
    element("tbody", {}, messages.map(message => {
      const counts = statusCounts(message)
      return element("tr", {}, first(message), ["sent", "delivered", "read"].map(name => element("td", {}, count(counts[name]))))
    })))
  return { ready: matrix.ready, nodes: [
    element("p", { class: "muted" }, "S sent, D delivered, R read, · the sender, – added later.",
      conversation.participants.length > MOST_PARTICIPANTS ? ` The first ${MOST_PARTICIPANTS} participants.` : ""), matrix] }
}
