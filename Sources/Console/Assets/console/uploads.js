// The uploads of an application: those in progress, and how others ended.

import { call, scanNote, writeButton } from "./api.js"
import { filters } from "./filters.js"
import { serverNow } from "./format.js"
import { show } from "./router.js"
import { badge, bar, clipped, confirmed, idText, link, list, p, say, span, timeNode } from "./ui.js"
import { bytes } from "../shared/dom.js"

const STATES = ["finalizing", "complete", "failed", "cancelled", "expired"]
const STALLED = 60_000

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
        item.protocol, span(badge(item.state), isStalled ? [" ", badge("stalled", "warn")] : ""),
        bar(item.offset / (item.size || 1), `${bytes(item.offset)} of ${item.size === null ? "unknown" : bytes(item.size)}${
          item.rate === null ? "" : `, ${bytes(item.rate)}/s`}`),
        timeNode(item.expires_at, true),
        state !== "open" ? "" : writeButton("Cancel", "admin", () =>
          confirmed("Cancel this upload?", "Its client cannot continue it.", "Cancel the upload", async () => {
            await call("DELETE", `uploads/${item.id}`)
            say("The upload was cancelled.")
            shown.reload()
          }), { class: "small" }),
      ]
    },
    empty: [p(`No upload is ${state}.`)],
  })
  const timer = setInterval(() => {
    // Rows that are being read do not change, nor does a list that was continued.
    if (state === "open" && !document.hidden && !shown.matches(":hover,:focus-within") && !shown.querySelector("tr:nth-child(51), .problem")) shown.reload()
  }, 2000)
  return {
    title: "Uploads", list: shown, dispose: () => clearInterval(timer),
    nodes: [filters(view, [{ name: "state", label: "State", none: "open", options: STATES }], () => show()), shown],
  }
}
