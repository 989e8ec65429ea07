// The feed: the state of everything the user sees, and each change while it happens.

import { Failure, delay } from "./client.js"

/** Follows the feed of a session and stores it. */
export class Feed {
  #session; #store; #handlers
  #source = null
  #events = []
  #timer = null
  #writes = Promise.resolve()
  #attempt = 0

  /**
   * `handlers`: `state(text)`, `change()` after something was stored, `signal(body)`, `ended()` when the session is over,
   * and `damaged()` when the database cannot be written.
   */
  constructor(session, store, handlers) {
    this.#session = session
    this.#store = store
    this.#handlers = handlers
  }

  get isOpen() { return this.#source !== null }

  open() {
    if (this.#source) return
    this.#handlers.state("Connecting")
    const source = this.#source = new EventSource(this.#session.feedURL(this.#store.meta.cursor))
    for (const kind of ["item", "reset", "ready"]) {
      source.addEventListener(kind, event => {
        this.#events.push({ kind, item: JSON.parse(event.data), cursor: event.lastEventId })
        this.#timer ??= setTimeout(() => this.#write(), 20)
        if (kind !== "ready") return
        this.#attempt = 0
        this.#handlers.state("Live")
      })
    }
    source.addEventListener("signal", event => this.#handlers.signal(JSON.parse(event.data)))
    source.addEventListener("error", () => this.#failed(source))
  }

  close() {
    this.#source?.close()
    this.#source = null
    this.#handlers.state("Offline")
  }

  /** Stores the events of the last 20 ms in one transaction. */
  #write() {
    this.#timer = null
    const events = this.#events.splice(0, 200)
    if (this.#events.length) this.#timer = setTimeout(() => this.#write(), 0)
    this.#writes = this.#writes.then(() => this.#store.apply(events, events.at(-1)?.cursor))
      .then(() => this.#handlers.change(events), () => this.#handlers.damaged())
  }

  /** A browser reconnects after a cut by itself, and gives up for ever after an HTTP error. */
  async #failed(source) {
    if (source !== this.#source) return
    this.#handlers.state("Reconnecting")
    if (source.readyState !== EventSource.CLOSED) return
    source.close()
    try {
      await this.#session.send("GET", "/conversations?page_size=1")
    } catch (failure) {
      if (failure instanceof Failure && failure.status === 401) return this.#handlers.ended()
    }
    await delay(this.#attempt++)
    if (source !== this.#source) return
    this.#source = null
    this.open()
  }
}
