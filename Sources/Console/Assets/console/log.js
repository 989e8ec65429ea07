// The live log of an application: a line per event, filters, jumps, and the payload of a line.

import { ROOT, get, inApp, isLeft, withQuery } from "./api.js"
import { EVENT_TYPES, sentence, sentenceText, typesOf } from "./events.js"
import { clearFilters, filters } from "./filters.js"
import { readTime, timeText, visible } from "./format.js"
import { Lines } from "./lines.js"
import { pathTo, setQuery } from "./router.js"
import { setConnection, Stream } from "./stream.js"
import { attempt, button, command, curl, download, facts, h2, idText, inRow, input, jsonView, jumpForm, link, p, problem, say, span, timeNode, tools } from "./ui.js"
import { count, element } from "../shared/dom.js"

/** The most lines in the page, and the most events that wait while the list is paused. */
const MOST_LINES = 10_000
const PAGE = 200
const BATCH = 50
/** Above this many events a second for so many seconds the stream is closed. */
const FAST = 500
const FAST_FOR = 3
const MOST_EXPORTED = 100_000

const FILTERS = ["types", "user", "conversation"]

export const logPage = view => eventLog(view, {
  title: "Live log", path: view.path("events"), isLive: true, app: view.app, types: EVENT_TYPES,
  placeholder: "message.*",
})

/** The log component: for the events of an application, and for those of the server. */
export async function eventLog(view, { title, path, isLive, app, types, placeholder, empty }) {
  const query = () => ({ types: typesOf(view.query.types, types), include: "text",
    ...(isLive && { user: view.query.user, conversation: view.query.conversation }) })
  let stream = null
  let waiting = []
  let batch = []
  let timer = null
  let isFollowing = false
  let [oldest, newest] = [null, null]
  let isAtStart = false
  let isLoading = false
  const fast = { seconds: 0, count: 0, timer: null, since: 0 }

  const payload = element("aside", { class: "payload", "aria-label": "Payload", hidden: true })
  const state = element("span", { class: "state", id: "log-state" })
  const follow = button(() => resume(), "Follow")
  const failed = element("div")
  const nothing = element("p", { hidden: true })
  const clear = () => button(() => clearFilters(view, FILTERS)?.(), "Clear filters")
  const clearing = clear()
  const lines = new Lines({
    label: title,
    make: () => element("div", {}, element("span", { class: "position" }), element("span", { class: "time" }), element("bdi", { dir: "auto" })),
    fill(row, event) {
      const [position, time, text] = row.children
      position.textContent = event.position
      const [date, clock] = timeText(event.at).split(" ")
      time.textContent = date === timeText(Date.now()).slice(0, 10) ? clock : `${date} ${clock}`
      time.title = event.at
      text.textContent = visible(sentenceText(event))
      row.setAttribute("aria-label", `${event.position}, ${text.textContent}`)
    },
    open: show,
    onScroll(atEnd, atStart) {
      if (atStart) attempt(older)
      if (!isLive) return
      if (atEnd && waiting.length === 0 && stream) isFollowing = true
      else if (!atEnd) isFollowing = false
      if (atEnd && !stream) attempt(newer)
      draw()
    },
  })
  document.addEventListener("selectionchange", selecting, { signal: view.signal })
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && isFollowing && stream && waiting.length) catchUp()
  }, { signal: view.signal })

  /** Selecting text pauses: a line that is being read does not move. */
  function selecting() {
    if (isFollowing && !getSelection().isCollapsed && lines.node.contains(getSelection().anchorNode)) {
      isFollowing = false
      draw()
    }
  }

  function draw() {
    const isFast = fast.timer !== null
    state.textContent = isFast ? `Too fast to follow: ${count(fast.rate ?? 0)} events/s; the newest ${PAGE} each second`
      : waiting.length ? `${count(waiting.length)} waiting${waiting.length >= MOST_LINES ? "; reading has stopped" : ""}`
        : isFollowing ? "Following" : isLive && stream ? "Paused" : isLive ? "Not live" : ""
    if (isFull() && !isFollowing) state.append(`. ${count(MOST_LINES)} lines are loaded; go to a position for older ones.`)
    follow.textContent = isLive ? isFollowing ? "Pause" : "Follow" : "Newest"
    follow.setAttribute("aria-pressed", String(isFollowing))
    nothing.hidden = lines.items.length > 0 || isLoading || oldest === null
    // A request examines a part of the log; the filters may select none of it.
    const isFiltered = Boolean(clearFilters(view, FILTERS))
    clearing.hidden = !isFiltered || !nothing.hidden && isAtStart
    nothing.replaceChildren(...isAtStart ? isFiltered ? ["No event matches the filters. ", clear()] : [empty ?? "No events yet. New events appear here."]
      : [`Searched from position ${count(oldest ?? 0)} on without a match. `, button(() => attempt(older), "Search older events"),
        newest === null ? "" : button(() => attempt(newer), "Search newer events")])
    lines.node.hidden = !lines.items.length
  }

  // MARK: Reading

  async function request(parameters) {
    isLoading = true
    lines.node.setAttribute("aria-busy", "true")
    try {
      return await get(path, { ...query(), ...parameters })
    } finally {
      isLoading = false
      lines.node.removeAttribute("aria-busy")
    }
  }

  /** Shows the newest events, and follows those that come. */
  async function toEnd() {
    if (isFollowing && isLive) { isFollowing = false; return draw() }
    if (stream) catchUp()
    else await load()
  }

  /** Shows the events that wait, and follows those that come; after a stop, those since the last one that waits. */
  function catchUp() {
    const isStopped = waiting.length >= MOST_LINES
    lines.append(waiting, MOST_LINES)
    waiting = []
    isFollowing = true
    lines.toEnd()
    if (isStopped) stream?.resume()
    draw()
  }

  async function load() {
    stop()
    failed.replaceChildren()
    try {
      if (view.query.position || view.query.at) await loadFrom()
      else await loadNewest()
    } catch (failure) {
      if (isLeft(failure)) return
      failed.replaceChildren(problem(failure, load))
    }
    draw()
  }

  /** The newest events before a position, how far the log was searched for them, and whether that is its beginning. */
  async function readBefore(before, limit = PAGE) {
    const { events, next, scanned } = await request({ order: "desc", before, limit })
    return { events: events.reverse(), from: next, end: next + scanned - 1, isStart: next <= 1 || !scanned }
  }

  async function loadNewest() {
    const answer = await readBefore()
    take(answer)
    newest = null
    isFollowing = isLive
    draw()
    lines.toEnd()
    if (isLive) listen(answer.end)
  }

  /** Shows the events from a position or a time on; they do not move. */
  async function loadFrom() {
    const { position, at } = view.query
    const { events, next, scanned } = await request({ ...(position ? { after: Math.max(0, position - 1) } : { at }), limit: PAGE })
    take({ events, from: next - scanned + 1, isStart: false })
    newest = next
    isFollowing = false
    draw()
    lines.scrollTo(0)
    if (events.length) lines.select(0)
  }

  function take({ events, from, isStart }) {
    lines.set([...events])
    oldest = from
    isAtStart = isStart
  }

  /** Whether no older lines can be added: dropping the newest ones would leave a hole before those that come. */
  const isFull = () => lines.items.length >= MOST_LINES

  async function older() {
    if (isLoading || isAtStart || isFull()) return
    const answer = await readBefore(oldest, Math.min(PAGE, MOST_LINES - lines.items.length))
    isAtStart = answer.isStart
    oldest = answer.from
    if (!isAtStart && !answer.events.length && lines.items.length) say(`Searched back to position ${count(oldest)}. Scroll up to continue.`)
    lines.prepend(answer.events)
    draw()
  }

  async function newer() {
    if (isLoading || stream || newest === null) return
    const { events, next } = await request({ after: newest, limit: PAGE })
    newest = next
    lines.append(events, MOST_LINES)
    draw()
  }

  // MARK: The stream

  function listen(position) {
    stream?.end()
    const receive = event => {
      fast.count += 1
      batch.push(JSON.parse(event.data))
      timer ??= setTimeout(flushBatch, BATCH)
    }
    stream = new Stream(view.signal, after => withQuery(ROOT + path, { ...query(), after: after ?? position }),
      Object.fromEntries(types.map(type => [type, receive])))
    clearInterval(fast.meter)
    fast.meter = setInterval(measure, 1000)
  }

  function flushBatch() {
    timer = null
    waiting.push(...batch)
    batch = []
    if (isFollowing && !document.hidden) return catchUp()
    if (waiting.length >= MOST_LINES) {
      // Reading stops; `catchUp` continues it after the last event that waits.
      waiting.length = MOST_LINES
      stream?.pause(waiting.at(-1).position)
    }
    draw()
  }

  /** Whether events come faster than lines can be read; called each second. */
  function measure() {
    fast.rate = fast.count
    fast.seconds = fast.count > FAST ? fast.seconds + 1 : 0
    fast.count = 0
    if (fast.seconds < FAST_FOR || fast.timer) return
    stream.end()
    stream = null
    clearInterval(fast.meter)
    let slow = 0
    let last = null
    fast.timer = setInterval(async () => {
      try {
        const end = (await get(path, { after: "now", limit: 1 })).next
        fast.rate = last === null ? fast.rate : end - last
        slow = last !== null && fast.rate < FAST ? slow + 1 : 0
        last = end
        if (isFollowing) {
          take(await readBefore(end + 1))
          lines.toEnd()
        }
        setConnection("Live", "live")
        if (slow >= FAST_FOR) await load()
        draw()
      } catch (failure) {
        if (failure.name === "AbortError") return
        setConnection("Reconnecting", "waiting")
      }
    }, 1000)
    setConnection("Live", "live")
    draw()
  }

  function stop() {
    stream?.end()
    stream = null
    clearInterval(fast.timer)
    clearInterval(fast.meter)
    Object.assign(fast, { timer: null, seconds: 0, count: 0 })
    clearTimeout(timer)
    timer = null
    batch = []
    waiting = []
  }

  // MARK: The payload

  function show(event) {
    isFollowing = false
    draw()
    const conversation = event.data?.conversation?.id ?? (event.subject?.includes("/conversations/") ? event.subject : null)
    payload.hidden = false
    payload.replaceChildren(
      inRow(h2(`${count(event.position)} ${event.type}`),
        button(close, "Close")),
      p(sentence(app, event)),
      facts([["Time", timeNode(event.at, true)],
        ["By", event.actor?.user_id !== undefined && app ? link(pathTo(app, "users", event.actor.user_id), idText(event.actor.user_id))
          : idText(event.actor?.name ?? event.actor?.token ?? "the server")],
        ["Subject", idText(event.subject ?? "")],
        conversation && app ? ["Conversation", link(pathTo(app, "conversations", conversation.split("/").pop()), idText(conversation.split("/").pop()))] : null]),
      jsonView(JSON.stringify(event)))
  }

  function close() {
    payload.hidden = true
    payload.replaceChildren()
    lines.rows.find(row => row.index === lines.selected)?.focus()
  }

  // MARK: Find and export

  const find = input({ type: "search", "aria-label": "Find in loaded lines", placeholder: "Find in loaded lines", on: {
    keydown(event) {
      if (event.key !== "Enter" || !find.value) return
      event.preventDefault()
      const text = find.value.toLowerCase()
      const total = lines.items.length
      const start = lines.selected < 0 ? total : lines.selected
      const by = event.shiftKey ? 1 : -1
      isFollowing = false
      for (let step = 1; step <= total; step++) {
        const index = (start + by * step + total * 2) % total
        const line = lines.items[index]
        if (`${line.position} ${line.type} ${sentenceText(line)}`.toLowerCase().includes(text)) {
          lines.select(index)
          find.focus()
          return draw()
        }
      }
      say("No loaded line has this text.")
    },
  } })

  async function exportLines() {
    const parts = []
    let [after, total] = [null, 0]
    const shown = span("0 events")
    say("Export: ", shown)
    while (total < MOST_EXPORTED) {
      const answer = await get(path, { ...query(), include: null, after, limit: 1000 })
      parts.push(...answer.events.map(event => `${JSON.stringify(event)}\n`))
      total += answer.events.length
      shown.textContent = `${count(total)} events`
      if (!answer.scanned) break
      after = answer.next
    }
    if (total >= MOST_EXPORTED) shown.textContent = `${count(MOST_EXPORTED)} events, the most of one file; there may be later ones.`
    download(new Blob(parts.slice(0, MOST_EXPORTED), { type: "application/jsonl" }), `events-${app ?? "server"}.jsonl`)
  }

  const jump = jumpForm("position or time", text => {
    const time = /^\d+$/.test(text) ? null : readTime(text)
    if (time !== null || /^\d+$/.test(text)) setQuery({ position: time ? null : text, at: time }, { push: true })
    else return "A position such as 10480, or a time such as 2026-05-02 14:30"
  })

  const resume = () => {
    if (view.query.position || view.query.at) setQuery({ position: null, at: null }, { push: true })
    else attempt(toEnd)
  }
  const loaded = load()
  return {
    title, ready: loaded, list: lines,
    keys: { f: resume, "[": () => attempt(older), "]": resume, e: () => attempt(exportLines), Escape: () => payload.hidden || close() },
    dispose() { stop(); lines.end() },
    nodes: [
      element("div", { class: "log-tools" },
        filters(view, [{ name: "types", label: "Type", placeholder, list: "event-types" },
          ...(isLive ? [{ name: "user", label: "User" }, { name: "conversation", label: "Conversation" }] : [])], load), element("datalist", { id: "event-types" },
          [...new Set(types.map(type => `${type.split(".")[0]}.*`)), ...types].map(type => element("option", { value: type }))),
        tools(follow, state, jump, find,
          button(() => attempt(exportLines), "Export"), clearing)),
      failed, element("div", { class: "log" }, lines.node, payload), nothing,
      app ? element("details", { class: "muted" }, element("summary", {}, "The same with curl"),
        command(curl("GET", `${inApp(app, "events")}?after=now`).replace(" -H", " -N -H 'Accept: text/event-stream' -H"))) : null,
    ],
  }
}
