// A stream of server-sent events that survives cuts, restarts and hidden tabs.

import { button, p } from "./ui.js"
import { readSession, retryAfter } from "./api.js"
import { askForLogin } from "./login.js"

const HIDDEN_AFTER = 10_000
/** The longest time until the next attempt, in seconds, unless the server names one: a restart is over within seconds. */
const LONGEST_WAIT = 4

let showState = () => {}

/** Calls an action with the state of the connection as text, and its kind: `live`, `waiting`, `offline`, `paused`. */
export const onConnection = action => { showState = action }

/** Shows the state of the connection of a page. */
export const setConnection = (text, kind) => showState(text, kind)

/**
 * One stream of the page that is shown. `address(position)` is where it begins; `events` are listeners by event type, of
 * which `message` gets all without a type. It is closed while the tab is hidden, and continues after the last position.
 */
export class Stream {
  constructor(signal, address, events) {
    Object.assign(this, { address, events, position: null, attempt: 0, source: null, timer: null, isPaused: false })
    this.visibility = () => this.checkVisibility()
    document.addEventListener("visibilitychange", this.visibility)
    signal.addEventListener("abort", () => this.end())
    this.open()
  }

  open() {
    clearTimeout(this.timer)
    this.source?.close()
    if (this.isPaused || this.isEnded) return
    const source = this.source = new EventSource(this.address(this.position))
    let isOpen = false
    source.onopen = () => {
      isOpen = true
      this.attempt = 0
      setConnection("Live", "live")
      this.events.open?.()
    }
    const receive = type => event => {
      if (source !== this.source) return
      if (event.lastEventId) this.position = event.lastEventId
      this.events[type](event)
    }
    for (const type of Object.keys(this.events)) {
      if (type !== "open") source.addEventListener(type, receive(type))
    }
    source.addEventListener("end", () => this.failed())
    source.onerror = () => this.failed(!isOpen)
  }

  /** A cut or an answer that is no stream: the page asks for its session, then decides. */
  async failed(isRefused = false) {
    this.source?.close()
    this.source = null
    if (this.isPaused || this.isEnded) return
    let known = null
    try { known = await readSession() } catch (failure) {
      return this.wait(Math.max(failure.retryAfter, Math.min(LONGEST_WAIT, 2 ** this.attempt)))
    }
    if (this.isEnded) return
    if (!known) {
      setConnection("Logged out", "offline")
      await askForLogin()
    }
    const refusal = known && isRefused ? await this.refusal() : null
    if (this.isEnded) return
    if (refusal) this.wait(refusal, "Too many consoles are open: retrying")
    else this.wait(this.attempt ? Math.min(LONGEST_WAIT, 2 ** this.attempt) : 0.2)
  }

  /** After how many seconds the server may have a place for this stream, which the browser does not tell; `null` if that is not why it ended. */
  async refusal() {
    const abort = new AbortController()
    try {
      const answer = await fetch(this.address(this.position), { headers: { Accept: "text/event-stream" }, cache: "no-store", signal: abort.signal })
      return answer.status === 429 ? retryAfter(answer) || LONGEST_WAIT : null
    } catch { return null } finally { abort.abort() }
  }

  wait(seconds, text = "Reconnecting") {
    if (this.isEnded) return
    this.attempt += 1
    const end = Date.now() + seconds * 1000
    const tick = () => {
      const left = Math.ceil((end - Date.now()) / 1000)
      if (left <= 0) return this.open()
      setConnection(navigator.onLine ? `${text} in ${left} s` : "Offline", navigator.onLine ? "waiting" : "offline")
      this.timer = setTimeout(tick, Math.min(1000, Math.max(50, end - Date.now())))
    }
    clearTimeout(this.timer)
    tick()
  }

  checkVisibility() {
    clearTimeout(this.hiding)
    if (document.hidden) this.hiding = setTimeout(() => this.isPaused || this.suspend(), HIDDEN_AFTER)
    else if (this.source === null && this.isHidden) {
      this.isHidden = false
      this.resume()
    }
  }

  suspend() {
    this.isHidden = document.hidden
    this.isPaused = true
    clearTimeout(this.timer)
    this.source?.close()
    this.source = null
    setConnection("Paused", "paused")
  }

  /** Stops reading; `resume` continues after a position. */
  pause(position) {
    this.suspend()
    this.isHidden = false
    this.position = position
  }

  resume() {
    this.isPaused = false
    this.attempt = 0
    this.open()
  }

  end() {
    this.isEnded = true
    clearTimeout(this.timer)
    clearTimeout(this.hiding)
    this.source?.close()
    document.removeEventListener("visibilitychange", this.visibility)
    setConnection("", "")
  }
}

/** The hash of the release in the addresses of its scripts. */
const release = new URL(import.meta.url).pathname.split("/")[3]

/** Shows a notice when the server has another release than this page. */
export async function checkRelease(notice) {
  const answer = await fetch("/console", { method: "HEAD", cache: "no-store" }).catch(() => null)
  const tag = answer?.ok ? answer.headers.get("ETag") : null
  if (tag && !tag.includes(release)) {
    notice(p("The server was updated. ",
      button(() => location.reload(), "Reload")))
  }
}
