// Which participants have received and read the newest messages: a table of messages and participants.

import { call, get, nextPage } from "./api.js"
import { nameOf } from "./format.js"
import { button, clipped, head, inRow, link, loading, muted, p, timeNode } from "./ui.js"
import { densePosition } from "./timeline.js"
import { count, element } from "../shared/dom.js"

/** The messages and the participants of one table. */
const MOST = 50

/** Whether positions such as `1-498,500` have one. */
const contains = (positions, wanted) => positions.split(",").some(part => {
  const [first, last = first] = part.split("-")
  return first && wanted >= first && wanted <= last
})

export async function receiptsTab(view) {
  let [from, after] = [null, null]
  const path = view.path("conversations", view.id)
  const matrix = loading(async () => {
    const { json, headers } = await call("GET", `${path}/messages`, { query: {
      page_size: MOST, from_id: from, recipient_status: "counts", count: "none" } })
    const positions = json.map(densePosition)
    const people = positions.length ? await get(`${path}/receipts`, {
      from: positions.at(-1), to: positions[0], after_user: after, limit: MOST + 1 }) : []
    return { messages: json, people: people.slice(0, MOST).map(({ data }) => ({ ...data, name: nameOf(data.user) })),
      next: nextPage(headers), hasMore: people.length > MOST }
  }, ({ messages, people, next, hasMore }) => {
    const turn = (label, change) => button(() => { change(); matrix.reload() }, label)
    return messages.length ? [
      element("div", { class: "scroll" }, table(messages, people)),
      inRow(from ? turn("Newest", () => { from = null }) : null, next ? turn("Older", () => { from = next }) : null,
        after ? turn("First participants", () => { after = null }) : null,
        hasMore ? turn("More participants", () => { after = people.at(-1).name }) : null)]
      : p("There are no messages.")
  })

  const cell = (message, position, one) => {
    const [letter, title] = message.sender?.id === one.user ? ["·", "sender"]
      : contains(one.read, position) ? ["R", "read"] : contains(one.delivered, position) ? ["D", "delivered"]
        : contains(one.present, position) ? ["S", "sent"] : ["–", "no participant then"]
    return element("td", { class: `state ${title}` }, element("abbr", { title }, letter))
  }
  const table = (messages, people) => element("table", { class: "matrix" },
    head("Position", "Sent", ...people.map(one => clipped(one.name))),
    element("tbody", {}, messages.map(message => {
      const position = densePosition(message)
      return element("tr", {},
        element("th", { scope: "row" }, link(`${view.to("conversations", view.id)}?message=${nameOf(message.id)}`, count(position))),
        element("td", {}, timeNode(message.sent_at)), people.map(one => cell(message, position, one)))
    })))
  return { ready: matrix.ready, nodes: [
    muted("S sent, D delivered, R read, · the sender, – no participant then."), matrix] }
}
