// How the server is: what it does now, each second, and over the last hour or day.

import { ROOT, get } from "./api.js"
import { chart } from "./chart.js"
import { duration, percent, serverNow, timeText } from "./format.js"
import { setQuery } from "./router.js"
import { Stream } from "./stream.js"
import { badge, bar, clipped, facts, faint, h2, idText, link, list, loading, muted, p, span, timeNode, tools } from "./ui.js"
import { progress } from "./uploads.js"
import { bytes, count, element } from "../shared/dom.js"

const rate = (value = 0) => value < 10 ? String(Number(value.toPrecision(2))) : count(value)
const size = value => bytes(value ?? 0)
const isKnown = value => value !== null && value !== undefined
/** A process that has not reported itself for so long does not run. */
const LATE = 30_000
/** The most uploads that are listed. */
const UPLOADS = 5
/** The time between two reads of the list of uploads while there are any, in milliseconds. */
const UPLOADS_INTERVAL = 5000
/** The time between two reads of the state and of the processes, in milliseconds; the charts of a day change less often. */
const INTERVAL = 10_000
const INTERVALS_OF_DAY = 6
// Quantiles are estimated from buckets.
const about = value => `~${duration(value)}`

const durations = (text, name, metric = "parley_request_duration_seconds") => [`Duration of ${text}`, metric, about,
  Object.fromEntries(["p50", "p95", "p99"].map(part => [`${name}_${part}`, part]))]

// Title, metric, how a number is written, the series with their names.
const CHARTS = [
  ["Requests per second", "parley_requests_total", rate, { requests: "requests", errors: "errors" }],
  durations("sends", "send"), durations("reads", "read"), durations("other requests", "other"),
  durations("commits", "commit", "parley_database_commit_duration_seconds"),
  ["Commits per second", "parley_database_commit_duration_seconds_count", rate, { commits: "commits" }],
  ["Bytes uploaded per second", "parley_upload_bytes_total", size, { upload_bytes: "bytes" }],
  ["Webhook attempts per second", "parley_webhook_attempts_total", rate, { webhook_attempts: "attempts", webhook_failures: "failures" }],
  ["Clients", "parley_connections", rate, { clients: "connections", streams: "event streams" }],
  ["Processor", "process_cpu_seconds_total", percent, { cpu: "of one core" }],
  ["Memory", "process_resident_memory_bytes", size, { memory: "resident" }],
]

export async function overviewPage(view) {
  const range = view.query.range === "day" ? "day" : "hour"
  const now = element("div", {}, p("…"))
  const process = span("")
  const health = loading(() => get("/health/ready").then(() => null, failure => {
    if (failure.status !== 503) throw failure
    return failure.message
  }), reason => reason ? [badge("Not ready", "error"), ` ${reason}`] : badge("Ready", "ok"))
  const charts = loading(() => get("stats", { range }), ({ from, step_s, series }) => [
    muted(series.requests?.length ? `Begins at ${timeText(from).slice(0, 19)}.` : "There is no sample yet: one is taken every 10 s.",
      " Longer times: ", link("/docs/metrics", "metrics for Prometheus"), "."),
    element("div", { class: "charts" }, CHARTS.map(([title, metric, format, names]) => chart({
      title, metric, format, from: Date.parse(from), step: step_s * 1000,
      series: Object.entries(names).filter(([name]) => series[name]).map(([name, text]) => ({ name: text, values: series[name] })),
    }))),
  ])
  const processes = list({
    label: "Processes", columns: ["Process", "State", "Release", "Started", "Works for all", "Requests/s", "Send p95", "Processor", "Memory"],
    async fetch() {
      const all = await get("processes")
      process.textContent = `process ${all[0].id}${all.length > 1 ? `, one of ${all.length}` : ""}, up ${duration((serverNow() - Date.parse(all[0].started_at)) / 1000)}`
      return all
    },
    row: ({ id, version, started_at, last_seen_at, leases, stats }) => [
      element("code", {}, id),
      serverNow() - Date.parse(last_seen_at) < LATE ? badge("running", "ok") : span(badge("silent", "error"), " since ", timeNode(last_seen_at, true)),
      version, timeNode(started_at, true), leases.join(", ") || "–", rate(stats.requests), isKnown(stats.send_p95) ? about(stats.send_p95) : "–",
      percent(stats.cpu), size(stats.memory),
    ],
  })
  const uploads = list({
    label: "Open uploads", columns: ["Content", "Owner", "Progress"],
    fetch: () => get("uploads", { limit: UPLOADS }),
    row: item => [link(`/console/a/${item.app}/uploads`, idText(item.id)), clipped(item.owner ?? ""), progress(item)],
    empty: [p("No upload is open.")],
  })
  const last = { open: 0, at: 0 }
  // What is being read does not change.
  const isRead = part => part.matches(":hover,:focus-within")
  let ticks = 0
  const timer = setInterval(() => {
    if (document.hidden) return
    ticks += 1
    health.reload()
    if ((range === "hour" || ticks % INTERVALS_OF_DAY === 0) && !charts.contains(document.activeElement)) charts.reload()
    if (!isRead(processes)) processes.reload()
  }, INTERVAL)

  new Stream(view.signal, () => `${ROOT}stream`, {
    stats(event) {
      const sample = JSON.parse(event.data)
      now.replaceChildren(tiles(sample))
      const open = sample.uploads_open ?? 0
      const isDue = open !== last.open || open && Date.now() - last.at > UPLOADS_INTERVAL
      if (!isDue || isRead(uploads)) return
      Object.assign(last, { open, at: Date.now() })
      uploads.reload()
    },
  })
  const choice = (value, text) => element("button", {
    type: "button", class: "small", "aria-pressed": String(range === value), on: { click: () => setQuery({ range: value === "hour" ? null : value }, { push: true }) } }, text)
  return {
    title: "Overview", ready: charts.ready, dispose: () => clearInterval(timer),
    nodes: [
      tools(health, faint(process)),
      now, h2("Open uploads"), uploads, tools(h2("Over time"), choice("hour", "1 hour"), choice("day", "24 hours")), charts,
      h2("Processes"), processes,
    ],
  }
}

function tiles(sample) {
  const made = facts([
    ["Requests/s", rate(sample.requests)],
    ["Errors", percent(sample.requests ? sample.errors / sample.requests : 0)],
    ["Send p95", isKnown(sample.send_p95) ? about(sample.send_p95) : "–"],
    ["Commit p95", isKnown(sample.commit_p95) ? about(sample.commit_p95) : "–"],
    ["Connections", count(sample.clients ?? 0)], ["Event streams", count(sample.streams ?? 0)],
    ["Open uploads", count(sample.uploads_open ?? 0)], ["Uploading", `${size(sample.upload_bytes)}/s`],
    ["Webhooks waiting", count(sample.webhooks_pending ?? 0)], ["Webhooks dead", count(sample.webhooks_dead ?? 0)],
    ["Processor", percent(sample.cpu ?? 0)], ["Memory", size(sample.memory)],
    isKnown(sample.disk_used) ? ["Disk", bar(sample.disk_used, `${percent(sample.disk_used)}, ${size(sample.disk_free)} free`)] : null,
    isKnown(sample.database) ? ["Database", size(sample.database)] : null,
  ])
  made.classList.add("tiles")
  return made
}
