// The messages of a conversation, as the system or as one user sees them.

import { call, get, nextPage, session } from "./api.js"
import { eventLink } from "./events.js"
import { nameOf, readTime } from "./format.js"
import { setQuery } from "./router.js"
import { attempt, button, clipped, command, confirmButton, curl, download, faint, inRow, input, jsonView, jumpForm, link, loading, muted, p, smallButton, span, timeNode, tools } from "./ui.js"
import { bytes, count, element } from "../shared/dom.js"

/** The dense position of a message. */
export const densePosition = message => Math.round(message.position / 65_536)

/** How many recipients have a message in each state; the sender does not count. */
const statusCounts = ({ recipient_status: counts, sender }) => ({ ...counts, read: Math.max(0, counts.read - (sender?.user_id ? 1 : 0)) })

const COUNTS = { recipient_status: "counts" }

export async function timelineTab(view, conversation) {
  const as = view.query.as ?? ""
  const base = as ? view.path("users", as, "conversations", view.id, "messages")
    : view.path("conversations", view.id, "messages")
  const rows = element("ol", { class: "timeline", "aria-label": "Messages, oldest first" })
  const older = button(() => attempt(more), "Older")
  let next = null

  async function page(from) {
    const answer = await call("GET", base, { query: {
      page_size: 50, from_id: from, sent_before: view.query.before, count: "none", ...COUNTS } })
    next = nextPage(answer.headers)
    older.hidden = !next
    return answer.json.map(message => row(view, message, as))
  }
  async function more() {
    const height = document.documentElement.scrollHeight
    rows.prepend(...(await page(next)).reverse())
    while (rows.children.length > 300) rows.lastElementChild.remove()
    scrollBy(0, document.documentElement.scrollHeight - height)
  }
  const messages = loading(async () => {
    const wanted = view.query.message
    const first = wanted ? [row(view, await get(
      as ? view.path("users", as, "messages", wanted) : view.path("conversations", view.id, "messages", wanted),
      COUNTS), as, true)] : []
    rows.replaceChildren(...[...first, ...await page(wanted ? `layer:///messages/${wanted}` : null)].reverse())
    return rows.children.length
  }, number => number ? rows : p(as ? "This user sees no messages here." : "There are no messages.",
    view.query.before ? button(newest, "Show the newest") : null))

  const newest = () => setQuery({ before: null, message: null }, { push: true })
  const users = conversation.participants.map(one => one.user_id)
  const viewer = input({ list: "viewers", value: as, placeholder: "system", spellcheck: "false", "aria-label": "As user", on: {
    change: () => setQuery({ as: viewer.value.trim(), message: null, before: null }, { push: true }) } })
  const jump = jumpForm("message id or time", text => {
    const id = /[0-9a-f-]{36}/i.exec(text)
    if (/^\d+$/.test(text)) return "Messages are not found by their position. The id of a message, or a time such as 2026-05-02 14:30"
    const time = id ? null : readTime(text)
    if (id) setQuery({ message: id[0].toLowerCase(), before: null }, { push: true })
    else if (time) setQuery({ before: time, message: null }, { push: true })
    else return "The id of a message, or a time such as 2026-05-02 14:30"
  })
  return {
    ready: messages.ready, keys: { "[": () => older.hidden || attempt(more), "]": newest },
    nodes: [
      tools(
        element("label", { class: "row" }, "As ", viewer, element("datalist", { id: "viewers" }, users.map(user => element("option", { value: user })))),
        jump, view.query.before || view.query.message ? button(newest, "Newest") : null,
        button(messages.reload, "Reload"), link(`${view.to("log")}?conversation=${view.id}`, "Events")),
      inRow(older), messages,
    ],
  }
}

function row(view, message, as, isWanted = false) {
  const id = nameOf(message.id)
  const counts = statusCounts(message)
  const total = counts.sent + counts.delivered + counts.read
  const sender = message.sender
  const who = sender?.user_id ? link(view.to("users", sender.user_id), clipped(sender.display_name || sender.user_id))
    : clipped(sender?.name || sender?.display_name || "deleted user")
  const details = element("details", { on: { toggle() {
    if (!details.open || details.childElementCount > 1) return
    details.append(jsonView(JSON.stringify(message)), command(curl("GET", view.path("messages", id))),
      inRow(confirmButton("Delete", "write", "Delete this message?", `Message ${id} is deleted for all participants. Nothing restores it.`,
        () => call("DELETE", view.path("conversations", view.id, "messages", id)),
        ["The message was deleted. ", eventLink(view, "message.deleted")], () => item.replaceChildren(muted("Deleted")), { class: "danger" })))
  } } }, element("summary", {}, "Details"))
  const item = element("li", { class: isWanted ? "wanted" : "", id: `m-${id}` },
    element("div", { class: "meta" }, element("span", { class: "position" }, count(densePosition(message))), element("strong", {}, who),
      timeNode(message.sent_at), as && message.is_unread ? element("span", { class: "badge" }, "unread") : null,
      total ? faint(`read ${count(counts.read)}/${count(total)}`,
        counts.delivered ? `, delivered ${count(counts.delivered)}` : "", counts.sent ? `, sent ${count(counts.sent)}` : "") : null),
    message.parts.map(partNode), details)
  return item
}

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]
const MEDIA = ["video/mp4", "video/webm", "audio/ogg", "audio/mpeg", "video/ogg", "audio/mp4", "audio/webm"]

function partNode(part) {
  const type = part.mime_type.split(";")[0].trim().toLowerCase()
  const label = faint(clipped(part.mime_type))
  if (part.body === "[hidden]" || part.content === "[hidden]") return partBox(label, muted("[hidden]"))
  if (part.content) return partBox(label, " ", contentNode(part.content, type))
  if (part.encoding === "base64") {
    const raw = atob(part.body)
    const place = element("span")
    const data = Uint8Array.from(raw, character => character.charCodeAt(0))
    const show = () => preview(place, URL.createObjectURL(new Blob([data], { type })), type)
    // Of a type that a page could run, only the bytes are saved.
    const save = () => download(new Blob([data], { type: "application/octet-stream" }), `part.${/\w+$/.exec(type)?.[0] ?? "bin"}`)
    return partBox(label, inRow(bytes(data.length),
      previewable(type) ? smallButton(show, "Show") : null, smallButton(save, "Download")), place)
  }
  if (type === "application/json" || type.endsWith("+json")) return partBox(label, jsonView(part.body))
  return partBox(type === "text/plain" ? null : label, element("p", { class: "body" }, clipped(part.body)))
}

const partBox = (...children) => element("div", { class: "part" }, ...children)
const previewable = type => IMAGES.includes(type) || MEDIA.includes(type)

/** Bytes of a content are loaded only when the operator asks, and only for types that cannot run scripts. */
function contentNode(content, type) {
  const place = element("span")
  const url = new URL(content.download_url, location.href)
  // The same server under another name would be another origin; a console with addresses of its own serves no content.
  const href = url.pathname.startsWith("/download/") && !session.server.api ? url.pathname + url.search : url.href
  return inRow(bytes(content.size),
    previewable(type) ? smallButton(() => preview(place, href, type), IMAGES.includes(type) ? "Show" : "Play") : null,
    element("a", { href, download: "" }, "Download"), place)
}

function preview(place, source, type) {
  const name = IMAGES.includes(type) ? "img" : type.startsWith("audio/") ? "audio" : "video"
  place.className = "preview"
  place.replaceChildren(element(name, { src: source, alt: "The content of this part", ...(name !== "img" && { controls: true, autoplay: false }), on: {
    error() { place.replaceChildren("The browser cannot show this content.") } } }))
}
