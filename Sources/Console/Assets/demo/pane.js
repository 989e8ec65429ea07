// One user: the conversations, the messages of one of them, and what the user writes.

import { element, userText, bytes, count, time, uuid } from "../shared/dom.js"
import { Session, delay, pathOf } from "./client.js"
import { Feed } from "./feed.js"
import { Outbox } from "./outbox.js"
import { Store, contains } from "./store.js"
import { STORED_FILE, ownPath } from "./upload.js"

/** Positions of messages count in steps of this; receipts count them by one. */
const STEP = 65_536
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]

export class Pane {
  #store; #session; #feed; #outbox; #isClosed = false
  #typing = new Map()
  #typedAt = 0
  #receipts = Promise.resolve()
  #sentReceipts = { delivery: new Set(), read: new Set() }
  #rows = new Map()

  /** `page`: `notice(text)`, `changed()` when the state in the address changed, `app(id)`. */
  constructor(user, page) {
    Object.assign(this, { user, page, conversation: null, isOnline: false })
    this.root = element("section", { class: "pane", "aria-label": `Device of ${user}` })
    this.#build()
  }

  get name() { return `parley-demo-${this.page.app}-${this.user}` }

  /** Opens the database, logs in if needed, and follows the feed. */
  async start(conversation, { isOnline = true } = {}) {
    this.#session = new Session(this.user, this.page.app)
    // The application is part of the name of the database.
    if (!this.page.app) await this.#login()
    if (this.#isClosed) return
    try {
      this.#store = await Store.open(this.name)
    } catch {
      await this.#startAgain()
    }
    if (this.#isClosed) return this.#store.close()
    this.conversation = conversation
    if (this.#session.token) await this.#store.setToken(this.#session.token)
    this.#session.token = this.#store.meta.token
    this.#connect()
    await this.go(isOnline)
  }

  async #login() {
    for (let attempt = 0; !this.#session.token && !this.#isClosed; attempt++) {
      try {
        await this.#session.login()
      } catch (failure) {
        if (!failure.isTransient) throw failure
        this.#setState("Offline: the server does not answer")
        await delay(attempt, failure.retryAfter)
      }
    }
    if (this.#isClosed) return
    this.page.setApp(this.#session.app)
    await this.#store?.setToken(this.#session.token)
  }

  /** Deletes a database that cannot be used; the server has everything but what was not sent. */
  async #startAgain() {
    this.page.notice(`The stored data of ${this.user} was damaged. The device starts again with the state of the server.`)
    this.#store?.close()
    await Store.remove(this.name)
    this.#store = await Store.open(this.name)
  }

  /** Logs in again when the session has ended; what is stored stays. */
  async #ended() {
    if (!this.#session.token) return
    this.#session.token = null
    this.page.notice(`The session of ${this.user} has ended; ${this.user} logs in again.`)
    const isOnline = this.isOnline
    await this.go(false)
    await this.go(isOnline)
  }

  async go(isOnline) {
    this.isOnline = isOnline
    this.toggle.textContent = isOnline ? "Go offline" : "Go online"
    if (isOnline) await this.#login()
    if (this.#isClosed) return
    isOnline ? this.#feed.open() : this.#feed.close()
    this.#outbox.go(isOnline)
    this.#show()
  }

  /** Ends all connections, when the page is left or shows other users. */
  close() {
    this.#isClosed = true
    this.#feed?.close()
    this.#outbox?.go(false)
    this.#store?.close()
  }

  #connect() {
    const ended = () => this.#ended()
    this.#feed = new Feed(this.#session, this.#store, {
      state: text => this.#setState(text),
      change: events => { this.#acknowledge(events); this.#show() },
      signal: signal => this.#receive(signal),
      ended,
      damaged: async () => {
        await this.go(false)
        await this.#startAgain()
        this.#connect()
        await this.go(true)
      },
    })
    this.#outbox = new Outbox(this.#session, this.#store, {
      change: () => this.#show(),
      ended,
      conversation: (answer, row) => this.#created(answer, row),
      conflict: () => this.page.notice(
        `${this.user} has a distinct conversation with these users already, with another topic; it is shown.`),
    })
  }

  // Conversations

  /** Opens the distinct conversation with others; it is created with the first message, at the latest. */
  async openWith(participants, { distinct = true, topic = "", text = null } = {}) {
    const others = participants.filter(user => user !== this.user)
    const known = distinct && !topic && this.#conversations().find(({ distinct, participants }) => distinct
      && same(participants.map(userOf), [this.user, ...others]))
    this.conversation = known?.id ?? `layer:///conversations/${uuid()}`
    const metadata = topic ? { topic } : {}
    if (!known) await this.#outbox.add({ kind: "conversation", id: this.conversation, participants: others, distinct, metadata })
    if (text) await this.#sendText(text)
    this.page.changed()
    this.#show()
  }

  #created(answer, row) {
    if (answer.id !== row.id) {
      if (this.conversation === row.id) this.conversation = answer.id
      const creator = this.#messages(answer.id)[0]?.sender.user_id ?? row.participants[0]
      const text = `Merged with ${creator}’s conversation of ${time(new Date(answer.created_at))}`
      if (!row.metadata.topic) this.merged = { id: answer.id, text }
      this.page.changed()
    }
  }

  #conversations() {
    const stored = this.#store.all("conversation")
    const queued = this.#store.outbox.filter(row => row.kind === "conversation").map(row => ({
      id: row.id, distinct: row.distinct, metadata: row.metadata, isQueued: true, created_at: new Date(row.at).toISOString(),
      participants: [this.user, ...row.participants].map(user => ({ user_id: user, display_name: user })) }))
    const last = conversation => this.#store.objects.get(conversation.last_message)?.data.sent_at ?? conversation.created_at
    return [...queued, ...stored.sort((one, other) => last(other).localeCompare(last(one)))]
  }

  /** The conversation that is shown: the chosen one, also by an id that it had before a merge, or else the newest. */
  #current(all = this.#conversations()) {
    return all.find(({ id, aliases }) => id === this.conversation || aliases?.includes(this.conversation)) ?? all[0]
  }

  #messages(conversation) {
    return this.#store.all("message").filter(message => message.conversation?.id === conversation)
      .sort((one, other) => one.position - other.position)
  }

  // Messages

  async #sendText(text) {
    // A longer text is a content like a file.
    if (new Blob([text]).size > 2048) return this.#attach(new File([text], "message.txt", { type: "text/plain" }))
    await this.#outbox.add({ kind: "message", id: `layer:///messages/${uuid()}`, conversation: this.conversation, text })
  }

  async #submit(event) {
    event.preventDefault()
    const text = this.input.value.trim()
    if (!text || !this.conversation) return
    this.input.value = ""
    this.#typedAt = 0
    await this.#sendText(text)
  }

  async #attach(file) {
    if (!file || !this.conversation) return
    const { name, size } = file
    const row = { kind: "message", id: `layer:///messages/${uuid()}`, conversation: this.conversation,
      file: { name, size, type: file.type || "application/octet-stream", ...(size <= STORED_FILE && { blob: file }) } }
    await this.#outbox.add(row, file)
  }

  /** Tells the senders that messages have arrived. */
  #acknowledge(events) {
    for (const { kind, item } of events) {
      const message = kind === "item" && item.type === "message" && item.data
      if (message?.recipient_status?.[this.#session.identity] === "sent") this.#receipt("delivery", message)
    }
  }

  /** Messages are read while they are seen: in the pane that has the focus, of a page that is visible. */
  #markRead() {
    if (!this.isOnline || !this.#store || document.hidden || !this.root.contains(document.activeElement)) return
    for (const message of this.#messages(this.#current()?.id)) {
      const isRead = message.sender?.user_id === this.user || this.#isReadBy(this.#session.identity, message)
      if (!isRead) this.#receipt("read", message)
    }
  }

  #receipt(type, message) {
    if (this.#sentReceipts[type].has(message.id)) return
    this.#sentReceipts[type].add(message.id)
    const path = `${pathOf(message.conversation.id)}/receipts`
    const body = { type, positions: String(message.position / STEP) }
    this.#receipts = this.#receipts.then(() => this.#session.send("POST", path, { body }))
      .catch(() => this.#sentReceipts[type].delete(message.id))
  }

  #receiptsOf(identity, message) {
    return this.#store.objects.get(`${message.conversation.id}/receipts/${identity.split("/").pop()}`)?.data
  }

  #isReadBy(identity, message) {
    return message.recipient_status?.[identity] === "read"
      || contains(this.#receiptsOf(identity, message)?.read, message.position / STEP)
  }

  /** What has become of a message of this user: `sent`, `delivered` or `read` by all others. */
  #status(message, conversation) {
    const others = conversation.participants.filter(participant => participant.user_id !== this.user)
    if (others.every(({ id }) => this.#isReadBy(id, message))) return "read"
    const isDelivered = ({ id }) => ["delivered", "read"].includes(message.recipient_status?.[id])
      || contains(this.#receiptsOf(id, message)?.delivered, message.position / STEP)
    return others.every(isDelivered) ? "delivered" : "sent"
  }

  // Typing and the topic

  #type() {
    if (!this.isOnline || !this.#current() || Date.now() - this.#typedAt < 2500) return
    this.#typedAt = Date.now()
    this.#session.send("POST", `${pathOf(this.conversation)}/typing`, { body: { action: "started" } }).catch(() => {})
  }

  #receive({ type, object, data }) {
    if (type !== "typing_indicator") return
    const key = `${object.id} ${data.sender.user_id}`
    clearTimeout(this.#typing.get(key)?.timer)
    this.#typing.delete(key)
    if (data.action !== "finished") {
      const timer = setTimeout(() => { this.#typing.delete(key); this.#showTyping() }, 6000)
      this.#typing.set(key, { conversation: object.id, user: data.sender.user_id, action: data.action, timer })
    }
    this.#showTyping()
  }

  async #setTopic(event) {
    event.preventDefault()
    const topic = this.topic.value.trim()
    const change = topic ? { operation: "set", property: "metadata.topic", value: topic }
      : { operation: "delete", property: "metadata.topic" }
    try {
      await this.#session.send("PATCH", pathOf(this.#current().id),
        { body: [change], headers: { "Content-Type": "application/vnd.layer-patch+json" } })
    } catch (failure) {
      this.page.notice(`The topic was not changed. ${failure.message}`)
    }
    this.topicForm.hidden = true
  }

  // What is shown

  #build() {
    this.state = element("span", { class: "state", role: "status" }, "Offline")
    this.toggle = button("Go offline", () => this.go(!this.isOnline))
    this.select = element("select", { "aria-label": "Conversation", on: { change: () => {
      this.conversation = this.select.value
      this.page.changed()
      this.#show()
    } } })
    this.topicText = element("span", { class: "topic" })
    this.topic = element("input", { "aria-label": "Topic", maxlength: "200" })
    this.topicForm = element("form", { class: "row", on: { submit: event => this.#setTopic(event) } }, this.topic,
      element("button", {}, "Save"), button("Cancel", () => { this.topicForm.hidden = true }))
    this.topicForm.hidden = true
    this.edit = button("Edit topic", () => {
      this.topic.value = this.#current()?.metadata?.topic ?? ""
      this.topicForm.hidden = false
      this.topic.focus()
    })
    this.list = element("ol", { class: "messages", "aria-label": "Messages", tabindex: "0" })
    // The newest message stays in view when the window changes, as by the keyboard of a phone.
    let isAtEnd = true
    this.list.addEventListener("scroll", () => { isAtEnd = this.#isAtEnd() })
    new ResizeObserver(() => { if (isAtEnd) this.list.scrollTop = this.list.scrollHeight }).observe(this.list)
    this.event = element("li", { class: "event" })
    this.typing = element("p", { class: "typing", role: "status" })
    this.input = element("input", { "aria-label": `Message of ${this.user}`, placeholder: "Message", autocomplete: "off",
      on: { input: () => this.#type() } })
    const file = element("input", { type: "file", class: "visually-hidden", "aria-label": `File of ${this.user}`,
      tabindex: "-1", on: { change: () => { this.#attach(file.files[0]); file.value = "" } } })
    this.form = element("form", { class: "row write", on: { submit: event => this.#submit(event) } }, this.input, file,
      button("Attach", () => file.click()), element("button", { class: "primary" }, "Send"))
    this.users = element("input", { "aria-label": "Other users", placeholder: "bo, cy", required: true })
    this.newTopic = element("input", { "aria-label": "Topic of the new conversation", placeholder: "topic", maxlength: "200" })
    this.distinct = element("input", { type: "checkbox", checked: true })
    this.newForm = element("form", { class: "row new", on: { submit: event => this.#submitNew(event) } }, this.users, this.newTopic,
      element("label", {}, this.distinct, " distinct"), element("button", { class: "primary" }, "Create"),
      button("Cancel", () => { this.newForm.hidden = true }))
    this.newForm.hidden = true
    const newButton = button("New", () => {
      this.users.value = this.newTopic.value = ""
      this.newForm.hidden = false
      this.users.focus()
    })
    this.root.append(
      element("header", {}, element("h2", {}, userText(this.user)), this.state, this.toggle),
      element("div", { class: "row" }, this.select, newButton), this.newForm,
      element("div", { class: "row" }, this.topicText, this.edit), this.topicForm, this.list, this.typing, this.form)
    for (const event of ["focusin", "pointerup"]) this.root.addEventListener(event, () => this.#markRead())
    document.addEventListener("visibilitychange", () => this.#markRead())
  }

  async #submitNew(event) {
    event.preventDefault()
    const users = this.users.value.split(",").map(user => user.trim()).filter(Boolean)
    this.newForm.hidden = true
    await this.openWith(users, { distinct: this.distinct.checked, topic: this.newTopic.value.trim() })
  }

  #setState(text) {
    this.state.textContent = text
    this.root.dataset.state = text.split(":")[0].toLowerCase()
  }

  #show() {
    if (!this.#store) return
    const all = this.#conversations()
    const current = this.#current(all)
    const title = ({ participants, metadata, unread_message_count: unread }) => [
      participants.map(userOf).filter(user => user !== this.user).join(", ") || "only you",
      metadata?.topic && `· ${metadata.topic}`, unread > 0 && `(${count(unread)} unread)`].filter(Boolean).join(" ")
    const options = current ? all.map(conversation => [conversation.id, title(conversation)]) : [["", "No conversation"]]
    // An open list must not change under the pointer.
    if (this.shown !== (this.shown = JSON.stringify(options))) {
      this.select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)))
    }
    this.select.value = current?.id ?? ""
    this.topicText.replaceChildren(...current?.metadata?.topic ? ["Topic: ", userText(current.metadata.topic)] : ["No topic"])
    this.edit.hidden = !current || Boolean(current.isQueued)
    this.form.hidden = !current
    if (current) this.conversation = current.id
    this.#showMessages(current)
    this.#showTyping()
    this.#markRead()
  }

  #showMessages(conversation) {
    const isAtEnd = this.#isAtEnd()
    const ids = [this.conversation, ...conversation?.aliases ?? []]
    const queued = this.#store.outbox.filter(row => row.kind === "message" && ids.includes(row.conversation))
    const rows = [...this.#messages(conversation?.id).map(message => this.#message(message, conversation)),
      ...queued.map(row => this.#queued(row))]
    this.event.textContent = conversation && conversation.id === this.merged?.id ? this.merged.text
      : (rows.length ? "" : conversation ? "No message yet." : "Create a conversation with New.")
    if (this.event.textContent) rows.push(this.event)
    arrange(this.list, rows)
    if (isAtEnd) this.list.scrollTop = this.list.scrollHeight
  }

  #isAtEnd() { return this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 60 }

  /** The row with an id: the shown one, unless it has changed. */
  #row(id, key, make) {
    const known = this.#rows.get(id)
    if (known?.key === key) return known.row
    const row = make()
    this.#rows.set(id, { key, row })
    return row
  }

  #message(message, conversation) {
    const isOwn = message.sender?.user_id === this.user
    const status = isOwn ? ` · ${this.#status(message, conversation)}` : ""
    return this.#row(message.id, `${message.updated_at}${status}`, () => element("li", { class: isOwn ? "own" : "" },
      isOwn ? null : userText(message.sender?.display_name ?? message.sender?.name ?? "unknown", "b"),
      this.#parts(message),
      element("small", {}, `${time(new Date(message.sent_at))}${status}`)))
  }

  #parts({ parts }) {
    const name = parts.find(part => part.mime_type === "text/plain" && !part.content)?.body ?? "file"
    const contents = parts.filter(part => part.content)
    return contents.length ? contents.map(part => this.#content(part, name)) : userText(name, "p")
  }

  #content({ mime_type: type, content: { id, size, download_url: url } }, name) {
    if (!url) return element("p", {}, `A file of ${bytes(size)} that is not complete.`)
    const link = element("a", { href: ownPath(url), download: name }, userText(name), ` · ${bytes(size)}`)
    // A download URL expires after a while; the content has a new one.
    const renew = async () => ownPath((await this.#session.send("GET", pathOf(id))).download_url)
    link.addEventListener("click", async () => { link.href = await renew() }, { once: true })
    if (!PICTURES.includes(type)) return element("p", {}, link)
    const image = element("img", { src: ownPath(url), alt: name, loading: "lazy" })
    image.addEventListener("error", async () => { image.src = await renew() }, { once: true })
    return element("figure", {}, image, element("figcaption", {}, link))
  }

  #queued(row) {
    const upload = row.file && !row.file.isComplete && this.#outbox.upload(row)
    const shown = this.#row(row.id, `queued ${row.error} ${upload?.state}`, () => element("li", { class: "own queued" },
      userText(row.text ?? row.file.name, "p"), upload ? this.#transfer(row, upload) : null,
      row.error ? [element("p", { class: "failed" }, `Failed: ${row.error}`),
        button("Retry", () => this.#outbox.retry(row)), button("Discard", () => this.#outbox.discard(row))]
        : element("small", {}, `${time(new Date(row.at))} · queued`)))
    if (!upload) return shown
    const { size } = row.file
    shown.querySelector("progress").value = size ? upload.offset / size : 0
    shown.querySelector("span").textContent = [`${Math.floor(size ? upload.offset / size * 100 : 0)} %`, bytes(size),
      upload.state === "uploading" && upload.rate > 0 ? `${bytes(upload.rate)}/s` : upload.state].join(" · ")
    return shown
  }

  #transfer(row, upload) {
    return element("div", { class: "transfer" },
      element("progress", { max: 1, "aria-label": `Upload of ${row.file.name}` }), element("span"),
      upload.state === "uploading" && button("Pause", () => upload.pause()),
      upload.state === "paused" && !row.error && button("Resume", () => upload.resume()),
      upload.state === "missing" && this.#chooseAgain(row),
      !row.error && button("Cancel", () => this.#outbox.discard(row)))
  }

  #chooseAgain(row) {
    const { name, size } = row.file
    const input = element("input", { type: "file", "aria-label": `${name} again`, on: { change: () => {
      const file = input.files[0]
      if (file.name === name && file.size === size) this.#outbox.begin(row, file)
      else this.page.notice(`Choose ${name} with ${bytes(size)}: the upload continues with the same file.`)
    } } })
    return element("label", {}, "Choose the same file to continue: ", input)
  }

  #showTyping() {
    const shown = [...this.#typing.values()].filter(({ conversation }) => conversation === this.conversation)
    this.typing.textContent = shown.map(({ user, action }) =>
      `${user} ${action === "paused" ? "has paused" : "is typing…"}`).join(" ")
  }
}

/** Makes a list have these rows, without moving those that stay, which may have the focus. */
function arrange(list, rows) {
  rows.forEach((row, index) => { if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null) })
  while (list.children.length > rows.length) list.lastChild.remove()
}

const button = (text, click) => element("button", { type: "button", on: { click } }, text)
const userOf = participant => participant.user_id
const same = (one, other) => [...new Set(one)].sort().join("\n") === [...new Set(other)].sort().join("\n")
