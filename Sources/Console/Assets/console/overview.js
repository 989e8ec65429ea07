// How the server is: what it does now, each second, and over the last hour or day.

import { get, ROOT } from "./api.js"
import { chart } from "./chart.js"
import { duration, percent, timeText } from "./format.js"
import { setQuery } from "./router.js"
import { Stream } from "./stream.js"
import { badge, bar, facts, h2, link, loading, p, span } from "./ui.js"
import { bytes, count, element } from "../shared/dom.js"

const rate = value => value < 10 ? String(Number((value ?? 0).toPrecision(2))) : count(value)
const size = value => bytes(value ?? 0)
// Quantiles are estimated from buckets.
const about = value => `~${duration(value)}`

// Title, metric, how a number is written, the series with their names.
const CHARTS = [
  ["Requests per second", "parley_requests_total", rate, { requests: "requests", errors: "errors" }],
  ["Duration of sends", "parley_request_duration_seconds", about, { send_p50: "p50", send_p95: "p95", send_p99: "p99" }],
  ["Duration of reads", "parley_request_duration_seconds", about, { read_p50: "p50", read_p95: "p95", read_p99: "p99" }],
  ["Duration of other requests", "parley_request_duration_seconds", about, { other_p50: "p50", other_p95: "p95", other_p99: "p99" }],
  ["Duration of commits", "parley_database_commit_duration_seconds", about, { commit_p50: "p50", commit_p95: "p95", commit_p99: "p99" }],
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
  const health = loading(() => get("/health/ready"), () => badge("Ready", "ok"))
  const charts = loading(() => get("stats", { range }), ({ from, step_s, series }) => [
    p(element("span", { class: "muted" }, series.requests?.length ? `Begins at ${timeText(from)}.` : "There is no sample yet: one is taken every 10 s.",
      " Longer times: ", link("/docs/metrics", "metrics for Prometheus"), ".")),
    element("div", { class: "charts" }, CHARTS.map(([title, metric, format, names]) => chart({
      title, metric, format, from: Date.parse(from), step: step_s * 1000,
      series: Object.entries(names).filter(([name]) => series[name]).map(([name, text]) => ({ name: text, values: series[name] })),
    }))),
  ])
  const timer = setInterval(() => {
    // A chart that is being read does not change.
    if (!document.hidden && !charts.contains(document.activeElement)) charts.reload()
  }, range === "hour" ? 10_000 : 60_000)

  new Stream(view.signal, () => `${ROOT}stream`, {
    hello(event) { process.textContent = `process ${JSON.parse(event.data).process}` },
    stats(event) { now.replaceChildren(tiles(JSON.parse(event.data))) },
  })
  const choice = (value, text) => element("button", {
    type: "button", class: "small", "aria-pressed": String(range === value), on: { click: () => setQuery({ range: value === "hour" ? null : value }, { push: true }) } }, text)
  return {
    title: "Overview", wide: true, ready: charts.ready, dispose: () => clearInterval(timer),
    nodes: [
      element("div", { class: "row tools" }, health, element("span", { class: "muted" }, process)),
      now, element("div", { class: "row tools" }, h2("Over time"), choice("hour", "1 hour"), choice("day", "24 hours")), charts,
    ],
  }
}

function tiles(sample) {
  const known = value => value !== null && value !== undefined
  const tile = (name, value) => value === null ? null : [name, value]
  const made = facts([
    tile("Requests/s", rate(sample.requests)),
    tile("Errors", percent(sample.requests ? sample.errors / sample.requests : 0)),
    tile("Send p95", known(sample.send_p95) ? about(sample.send_p95) : "–"),
    tile("Commit p95", known(sample.commit_p95) ? about(sample.commit_p95) : "–"),
    tile("Connections", count(sample.clients ?? 0)), tile("Event streams", count(sample.streams ?? 0)),
    tile("Open uploads", count(sample.uploads_open ?? 0)), tile("Uploading", `${size(sample.upload_bytes)}/s`),
    tile("Webhooks waiting", count(sample.webhooks_pending ?? 0)), tile("Webhooks dead", count(sample.webhooks_dead ?? 0)),
    tile("Processor", percent(sample.cpu ?? 0)), tile("Memory", size(sample.memory)),
    known(sample.disk_used) ? tile("Disk", bar(sample.disk_used, `${percent(sample.disk_used)}, ${size(sample.disk_free)} free`)) : null,
    known(sample.database) ? tile("Database", size(sample.database)) : null,
  ])
  made.classList.add("tiles")
  return made
}
