// The upload of a file, which continues where it was cut.

import { Failure, delay } from "./client.js"

/** The largest file that is stored in the database, so that its upload continues after a reload without a question. */
export const STORED_FILE = 50 << 20

export class Upload {
  #session; #handlers; #request = null; #isRunning = false
  /** `waiting`, `uploading`, `paused` or `missing`: the file has to be chosen again. */
  state = "waiting"
  offset = 0
  /** Bytes per second. */
  rate = 0

  /** `handlers`: `change()`, `store(members)`, `complete()` and `failed(failure)`. */
  constructor(session, file, blob, handlers) {
    Object.assign(this, { file, blob })
    this.#session = session
    this.#handlers = handlers
    this.offset = file.offset ?? 0
    if (!blob) this.state = "missing"
  }

  pause() {
    this.#stop("paused")
    this.#handlers.change()
  }

  resume() { this.state = "waiting"; this.start() }

  /** Stops without the user's wish, as when the network is gone. */
  stop() { if (this.state !== "paused" && this.state !== "missing") this.#stop("waiting") }

  #stop(state) {
    this.state = state
    this.#request?.abort()
  }

  async start() {
    if (this.state !== "waiting") return
    this.state = "uploading"
    this.#handlers.change()
    if (this.#isRunning) return // An earlier start that was stopped and has not ended yet continues.
    this.#isRunning = true
    for (let attempt = 0; this.state === "uploading"; attempt++) {
      try {
        await this.#announce()
        this.offset = await this.#offset()
        if (this.state !== "uploading") break // Stopped while there was no request that could be aborted.
        await this.#put()
        await this.#handlers.store({ isComplete: true, blob: null })
        await this.#handlers.complete()
        break
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure
        // The upload was removed by the server: the next attempt announces it again.
        if ([404, 410].includes(failure.status)) {
          await this.#handlers.store({ url: null, content: null })
          Object.assign(this.file, { url: null, content: null })
        } else if (!failure.isTransient) {
          this.state = "paused"
          this.#handlers.failed(failure)
        }
        if (this.state === "uploading") await delay(attempt, failure.retryAfter)
      }
    }
    this.#isRunning = false
    if (this.state === "waiting") this.#handlers.change()
  }

  /** Creates the content, once: its id and its upload URL outlive a reload. */
  async #announce() {
    if (this.file.url) return
    const { name, type, size } = this.file
    const answer = await this.#session.send("POST", "/content", { headers: {
      "Upload-Content-Type": type, "Upload-Content-Length": String(size), "Upload-Origin": location.origin,
      "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}` } })
    const members = { url: ownPath(answer.upload_url), content: answer.id }
    await this.#handlers.store(members)
    Object.assign(this.file, members)
  }

  /** The number of bytes that the server has. */
  async #offset() {
    const answer = await fetch(this.file.url, { method: "HEAD" }).catch(() => null)
    if (!answer) throw new Failure("The server does not answer.", { isTransient: true })
    if (!answer.ok) {
      throw new Failure(`The upload was answered ${answer.status}.`,
        { status: answer.status, isTransient: answer.status >= 500 })
    }
    return Number(answer.headers.get("Upload-Offset"))
  }

  /** Sends the rest; `fetch` reports no progress of a body, so this is an `XMLHttpRequest`. */
  #put() {
    const { size } = this.file, start = this.offset
    if (start === size && size > 0) return
    return new Promise((resolve, reject) => {
      const request = this.#request = new XMLHttpRequest()
      const began = performance.now()
      let shown = 0
      request.upload.onprogress = event => {
        this.offset = start + event.loaded
        this.rate = event.loaded / (performance.now() - began) * 1000
        if (performance.now() - shown < 100) return
        shown = performance.now()
        this.#handlers.change()
      }
      const failed = () => reject(new Failure("The upload was cut.", { isTransient: true }))
      request.onerror = request.onabort = request.ontimeout = failed
      request.onload = () => request.status < 300 ? resolve() : reject(new Failure(
        `The upload was answered ${request.status}.`,
        { status: request.status, isTransient: request.status === 308 || request.status === 409 || request.status >= 500 }))
      request.open("PUT", this.file.url)
      if (size > 0) request.setRequestHeader("Content-Range", `bytes ${start}-${size - 1}/${size}`)
      request.send(this.blob.slice(start))
    })
  }
}

/**
 * The path of a URL of uploads or downloads: this server answers it under every name, and the page may have been opened
 * under another one than that of the URL. URLs that lead elsewhere stay as they are.
 */
export function ownPath(url) {
  const { pathname, search } = new URL(url, location.href)
  return /^\/(uploads|download)\//.test(pathname) ? pathname + search : url
}
