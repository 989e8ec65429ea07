// The uploads of an application: those in progress, and how others ended; and the space that is left for them.

import { call, get, scanNote } from "./api.js"
import { filters } from "./filters.js"
import { percent, serverNow } from "./format.js"
import { show } from "./router.js"
import { badge, bar, clipped, confirmButton, facts, folded, h2, head, idText, link, list, loading, p, refreshed, span, timeNode } from "./ui.js"
import { bytes, count, element } from "../shared/dom.js"

const STATES = ["finalizing", "complete", "failed", "cancelled", "expired"]
const STALLED = 60_000
const REASONS = { digest: "the digest differs", storage_lost: "stored bytes are lost", refused: "the content was refused",
  quota: "above the quota", overflow: "more bytes than announced" }

/** How much of an upload is stored, and how fast it is. */
export const progress = ({ offset, size, rate }) => bar(offset / (size || 1), `${bytes(offset)} of ${size === null ? "unknown" : bytes(size)}${
  rate === null ? "" : `, ${bytes(rate)}/s`}`)

export async function uploadsPage(view) {
  const state = view.query.state ?? "open"
  const shown = list({
    label: "Uploads", columns: ["Content", "Owner", "Protocol", "State", "Progress", "Expires", ""],
    async fetch(after, limit) {
      const { json, headers } = await call("GET", "uploads", { query: { app: view.app, state, after, limit } })
      const next = json.length === limit ? json.at(-1).id : headers.get("Parley-Scan")?.split("next=")[1]
      return { items: json, next, note: scanNote(headers) }
    },
    row(item) {
      const isStalled = item.state === "receiving" && serverNow() - Date.parse(item.progress_at) > STALLED
      return [
        idText(item.id), item.owner ? link(view.to("users", item.owner), clipped(item.owner))
          : item.conversation ? link(view.to("conversations", item.conversation), "a conversation") : "the application",
        item.protocol, span(badge(item.state), isStalled ? [" ", badge("stalled", "warn")] : "", item.failure ? ` ${REASONS[item.failure]}` : ""),
        progress(item), timeNode(item.expires_at, true),
        state !== "open" ? "" : confirmButton("Cancel", "admin", "Cancel this upload?", `The client cannot continue upload ${item.id}${item.owner ? ` of ${item.owner}` : ""}.`,
          () => call("DELETE", `uploads/${item.id}`), "The upload was cancelled.", () => shown.reload(), { verb: "Cancel the upload" }),
      ]
    },
    empty: [p(`No upload is ${state}.`)],
  })
  refreshed(view, shown, () => state === "open")
  const space = loading(() => get("storage", { app: view.app }), storage)
  return {
    title: "Uploads", list: shown, ready: space.ready,
    nodes: [filters(view, [{ name: "state", label: "State", none: "open", options: STATES }], () => show()), shown, h2("Storage"), space],
  }
}

/** The space on the volume, and what this application has of it. */
function storage({ volume, headroom, contents, reserved, quota, applications: [app], sweep, traffic }) {
  const used = app.content_bytes + app.reserved
  return [
    facts([
      ["This application", quota === null ? `${bytes(used)}, no quota` : bar(used / (quota || 1), `${bytes(used)} of ${bytes(quota)}`)],
      app.reserved ? ["of which reserved", bytes(app.reserved)] : null,
      ["Volume", bar(1 - volume.free / (volume.total || 1), `${bytes(volume.free)} of ${bytes(volume.total)} free (${percent(volume.free / (volume.total || 1))})`)],
      ["Kept free", bytes(headroom)], ["Reserved by all uploads", bytes(reserved)], ["Contents of all applications", bytes(contents)],
      ["Last sweep", sweep ? span(timeNode(sweep.at, true), sweep.orphans ? ` ${count(sweep.orphans)} unused contents deleted, ${bytes(sweep.bytes)}` : " nothing to delete")
        : "not in this process"],
    ]),
    traffic.length ? folded("Traffic by protocol since the start of this process", element("div", { class: "scroll" }, element("table", {},
      head("Protocol", "Requests", "Received", "Stored", "Resumed", "Taken over"),
      element("tbody", {}, traffic.map(one => element("tr", {}, [one.protocol, count(one.requests), bytes(one.received), bytes(one.committed),
        count(one.resumes), count(one.takeovers)].map(text => element("td", {}, text)))))))) : null,
  ]
}
