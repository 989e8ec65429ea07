// Exports, imports and backups: they run in the background, and go on when the page is left.

import { Failure, ROOT, call, get, isOperator, session, withQuery, writeButton } from "./api.js"
import { duration, timeText } from "./format.js"
import { pathTo } from "./router.js"
import { actButton, badge, bar, clipped, command, confirmButton, folded, h2, idText, inRow, keyed, link, list, p, problem, refreshed, span, timeNode } from "./ui.js"
import { bytes, element } from "../shared/dom.js"

const NAMES = { export: "Export", import: "Import", backup: "Backup" }
const KINDS = { done: "ok", failed: "error", interrupted: "warn" }

/** How far a job is: a share of its bytes, or what it has done. */
function progress(job) {
  if (job.state === "done") return bytes(job.done)
  return job.total === null ? "…" : bar(job.done / (job.total || 1), `${bytes(job.done)} of ${bytes(job.total)}`)
}

/** What an import or a backup has done, in few words. */
function resultOf({ result }) {
  if (!result) return ""
  if (result.folder) return span("In ", element("code", {}, clipped(result.folder)))
  return result.records.filter(({ brought }) => brought).map(({ record, brought }) => `${brought} ${record}`).join(", ") || "Nothing was missing"
}

/** The jobs of an application, or all. */
function jobList(view) {
  let isBusy = false
  const shown = list({
    label: "Jobs", columns: ["Job", "State", "Progress", "Result", "Started", "By", ""],
    async fetch() {
      const jobs = (await get("jobs")).filter(job => !view.app || job.app === view.app)
      isBusy = jobs.some(job => job.state === "running")
      return jobs
    },
    row: job => [
      span(NAMES[job.kind], job.app && !view.app ? [" of ", link(pathTo(job.app, "transfer"), idText(job.app))] : ""),
      badge(job.state, KINDS[job.state]), progress(job), job.error ? clipped(job.error) : resultOf(job),
      span(timeNode(job.started_at, true), job.ended_at ? ` for ${duration((Date.parse(job.ended_at) - Date.parse(job.started_at)) / 1000)}` : ""),
      clipped(job.actor),
      inRow(
        job.kind === "export" && job.file_bytes !== null
          ? element("a", { class: "button", href: `${ROOT}jobs/${job.id}/file`, download: `${job.app}.jsonl` }, "Download") : null,
        job.state === "interrupted" || job.state === "failed" ? actButton("Run again", "admin",
          key => call("POST", `jobs/${job.id}`, { headers: keyed(key) }), "The job was started again.", () => shown.reload(),
          { class: "small" }) : null,
        confirmButton(job.state === "running" ? "Stop" : "Delete", "admin", "Delete this job?",
          `${NAMES[job.kind]} of ${job.app ?? "the server"}, started ${timeText(job.started_at)}: ${
            job.kind === "backup" ? "the folder of the backup stays." : "its file is deleted; records that were imported stay."}`,
          () => call("DELETE", `jobs/${job.id}`), "The job was deleted.", () => shown.reload())),
    ],
    empty: [p("No job has run within a week.")],
  })
  refreshed(view, shown, () => isBusy)
  return shown
}

/** A button that starts a job without a file. */
const startButton = (kind, label, shown, app) => actButton(label, "admin",
  key => call("POST", "jobs", { query: { kind, app }, headers: keyed(key) }),
  `The ${kind} was started.`, () => shown.reload(), { class: "primary" })

export async function jobsPage(view) {
  const shown = jobList(view)
  return { title: "Jobs", list: shown, nodes: [
    p("Exports and imports are started on the page Transfer of their application. A job and its file are deleted a week after its end."),
    shown,
    isOperator() ? [h2("Back up the server"), ...session.server.backups
      ? [p("The database and all contents are copied into a new folder while the server runs."), p(startButton("backup", "Start a backup", shown))]
      : [p("Backups need the setting ", element("code", {}, "console.backup_folder"), ". On the machine of the server:"), command("parley backup FOLDER")]] : null,
  ].flat() }
}

export async function transferPage(view) {
  const shown = jobList(view)
  const file = element("input", { type: "file", accept: ".jsonl,application/jsonl", "aria-label": "File of JSON lines" })
  const state = element("div", { "aria-live": "polite" })
  const cancel = element("button", { type: "button", hidden: true }, "Cancel")
  const start = writeButton("Import", "admin", () => {
    if (!file.files[0]) return state.replaceChildren(p("Choose a file first."))
    const request = new XMLHttpRequest()
    start.disabled = true
    cancel.hidden = false
    cancel.onclick = () => request.abort()
    const end = (...nodes) => { start.disabled = false; cancel.hidden = true; state.replaceChildren(...nodes) }
    request.upload.onprogress = ({ loaded, total }) => state.replaceChildren(bar(loaded / total, `${bytes(loaded)} of ${bytes(total)} sent`))
    request.onload = () => {
      shown.reload()
      if (request.status < 300) return end(p("The file is on the server, which imports it now. You may leave this page."))
      let answer = {}
      try { answer = JSON.parse(request.responseText) } catch { /* not JSON */ }
      end(problem(new Failure(answer.message ?? `The server answered ${request.status}.`, {
        status: request.status, request: request.getResponseHeader("X-Request-Id") })))
    }
    const next = "Send the file again if no import appears below."
    request.onerror = () => { shown.reload(); end(problem(new Failure(`The connection was lost. ${next}`))) }
    request.onabort = () => { shown.reload(); end(p(`Cancelled. ${next}`)) }
    request.open("POST", ROOT + withQuery("jobs", { kind: "import", app: view.app }))
    request.setRequestHeader("X-Parley-Console", "1")
    request.setRequestHeader("Content-Type", "application/jsonl")
    request.send(file.files[0])
  }, { class: "primary" })
  return {
    title: "Transfer", list: shown,
    nodes: [
      h2("Export"),
      p("Users, conversations, messages, receipts and contents with their ids and times, as one JSON object a line."),
      p(startButton("export", "Start an export", shown, view.app)),
      h2("Import"),
      p("Records that exist stay as they are; the same file twice changes nothing."),
      inRow(file, start, cancel), state,
      h2("Jobs"), shown,
      folded("The same on the machine of the server",
        command(`parley export --app ${view.app} --contents contents > app.jsonl\nparley import app.jsonl --contents contents`)),
    ],
  }
}
