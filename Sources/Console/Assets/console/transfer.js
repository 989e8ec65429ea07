// An application as a file of JSON lines: out, and in again.

import { Failure, ROOT, may, writeButton } from "./api.js"
import { bar, command, h2, inRow, jsonView, p, problem } from "./ui.js"
import { bytes, element } from "../shared/dom.js"

export async function transferPage(view) {
  const href = ROOT + view.path("export")
  const file = element("input", { type: "file", accept: ".jsonl,application/jsonl", "aria-label": "File of JSON lines" })
  const state = element("div", { "aria-live": "polite" })
  const cancel = element("button", { type: "button", hidden: true }, "Cancel")
  const start = writeButton("Import", "admin", () => {
    if (!file.files[0]) {
      state.replaceChildren(p("Choose a file first."))
      return
    }
    const request = new XMLHttpRequest()
    const sent = file.files[0].size
    start.disabled = true
    cancel.hidden = false
    cancel.onclick = () => request.abort()
    const end = (...nodes) => { start.disabled = false; cancel.hidden = true; state.replaceChildren(...nodes) }
    request.upload.onprogress = event => state.replaceChildren(event.loaded < sent
      ? bar(event.loaded / sent, `${bytes(event.loaded)} of ${bytes(sent)} sent`) : p("All bytes are sent; the server writes the records."))
    request.onload = () => {
      if (request.status < 300) return end(p("The import is complete."), jsonView(request.responseText || "{}"))
      let answer = {}
      try { answer = JSON.parse(request.responseText) } catch { /* not JSON */ }
      end(problem(new Failure(answer.message ?? `The server answered ${request.status}.`, {
        status: request.status, id: answer.id, request: request.getResponseHeader("X-Request-Id") })),
      answer.data ? jsonView(JSON.stringify(answer.data)) : "")
    }
    request.onerror = () => end(problem(new Failure("The connection broke. Import the same file again: records that exist stay.")))
    request.onabort = () => end(p("Cancelled. Records that were written stay; import the same file again to continue."))
    request.open("POST", ROOT + view.path("import"))
    request.setRequestHeader("X-Parley-Console", "1")
    request.setRequestHeader("Content-Type", "application/jsonl")
    request.send(file.files[0])
  }, { class: "primary" })
  return {
    title: "Transfer", isNarrow: true,
    nodes: [
      h2("Export"),
      p("One JSON object a line: users, conversations, messages and receipts, with their ids and times."),
      may("admin") ? p(element("a", { class: "button", href, download: `${view.app}.jsonl` }, "Download the export"))
        : writeButton("Download the export", "admin", () => {}),
      command(`parley export --app ${view.app} --contents contents > app.jsonl`),
      h2("Import"),
      p("Records that exist stay as they are; the same file twice changes nothing."),
      inRow(file, start, cancel), state,
      command("parley import app.jsonl --contents contents"),
    ],
  }
}
