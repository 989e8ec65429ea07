// The outbox: what the user has written, until the server has it.

import { Failure, delay, pathOf } from "./client.js"
import { Upload } from "./upload.js"

/**
 * Sends the rows of the outbox in order.
 *
 * Every object has the id that this client chose, so that a request that is repeated after a lost answer makes nothing
 * twice. A message that cannot be sent holds back the later ones of its conversation. A message with a file takes its
 * place when its upload is complete.
 */
export class Outbox {
  #session; #store; #handlers
  #isRunning = false
  #isOnline = false
  #uploads = new Map()

  /** `handlers`: `change()`, `conversation(answer, row)`, `conflict()` and `ended()`. */
  constructor(session, store, handlers) {
    this.#session = session
    this.#store = store
    this.#handlers = handlers
  }

  /** The upload of a row, if it has one. */
  upload(row) { return this.#uploads.get(row.id) }

  async add(row, file) {
    const added = await this.#store.enqueue({ ...row, at: Date.now() })
    if (file) this.begin(added, file)
    this.#handlers.change()
    this.run()
  }

  go(isOnline) {
    this.#isOnline = isOnline
    for (const row of this.#store.outbox) if (row.file && !row.file.isComplete) this.begin(row, row.file.blob)
    for (const upload of this.#uploads.values()) isOnline ? upload.start() : upload.stop()
    this.run()
  }

  async retry(row) {
    await this.#store.update(row, { error: null })
    if (row.file && !row.file.isComplete) this.begin(row, this.upload(row)?.blob ?? row.file.blob)
    this.#handlers.change()
    this.run()
  }

  async discard(row) {
    this.upload(row)?.stop()
    this.#uploads.delete(row.id)
    await this.#store.settle(row)
    this.#handlers.change()
    this.run()
  }

  /** Begins the upload of a row; after a reload a large file has to be given again. */
  begin(row, blob) {
    if (!this.#uploads.has(row.id) || blob && !this.upload(row).blob) {
      this.#uploads.set(row.id, new Upload(this.#session, row.file, blob, {
        change: () => this.#handlers.change(),
        store: members => this.#store.update(row, { file: { ...row.file, ...members } }),
        complete: async () => {
          this.#uploads.delete(row.id)
          await this.#store.moveToEnd(row)
          this.run()
        },
        failed: failure => this.#fail(row, failure),
      }))
    }
    if (this.#isOnline) this.upload(row).start()
  }

  /** The first row that may be sent now. */
  #next() {
    const blocked = new Set()
    return this.#store.outbox.find(row => {
      const conversation = row.kind === "conversation" ? row.id : row.conversation
      if (row.error) blocked.add(conversation)
      return !blocked.has(conversation) && !(row.file && !row.file.isComplete)
    })
  }

  /** Sends until nothing is left. */
  async run() {
    if (this.#isRunning) return
    this.#isRunning = true
    let attempt = 0
    for (let row; this.#isOnline && (row = this.#next());) {
      try {
        await (row.kind === "conversation" ? this.#create(row) : this.#send(row))
        attempt = 0
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure
        if (failure.status === 401) { this.#handlers.ended(); break }
        if (failure.isTransient) await delay(attempt++, failure.retryAfter)
        else await this.#fail(row, failure)
      }
      this.#handlers.change()
    }
    this.#isRunning = false
  }

  async #send(row) {
    // A file is followed by its name, which every client can show.
    const parts = row.file && [{ mime_type: row.file.type, content: { id: row.file.content, size: row.file.size } }] || []
    parts.push({ mime_type: "text/plain", body: row.text ?? row.file.name })
    let message
    try {
      message = await this.#session.send("POST", `${pathOf(row.conversation)}/messages`, { body: { id: row.id, parts } })
    } catch (failure) {
      // The message is there: the answer to an earlier attempt was lost.
      if (failure.id !== "id_in_use") throw failure
    }
    await this.#store.settle(row, message && { id: message.id, type: "message", data: message,
      generation: this.#store.meta.generation })
  }

  async #create(row) {
    const body = { id: row.id, participants: row.participants, distinct: row.distinct, metadata: row.metadata }
    let answer
    try {
      answer = await this.#session.send("POST", "/conversations", { body })
    } catch (failure) {
      if (!["id_in_use", "conflict"].includes(failure.id) || !failure.data?.id) throw failure
      answer = failure.data
      if (failure.id === "conflict") this.#handlers.conflict()
    }
    const known = this.#store.objects.get(answer.id)
    await this.#store.settle(row, known ?? { id: answer.id, type: "conversation", data: answer,
      generation: this.#store.meta.generation })
    this.#handlers.conversation(answer, row)
  }

  async #fail(row, failure) {
    await this.#store.update(row, { error: failure.message })
    this.#handlers.change()
  }
}
