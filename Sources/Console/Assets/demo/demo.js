// The page: two devices beside each other that share nothing but the server.

import { element } from "../shared/dom.js"
import { Pane } from "./pane.js"

const query = new URLSearchParams(location.search)
const main = document.querySelector("main")
const navigation = document.querySelector("header nav")
const noticeText = document.querySelector(".notice")
const panes = []

const page = {
  app: query.get("app"),
  setApp(app) { page.app = app; page.changed() },
  notice(text, ...controls) {
    noticeText.hidden = !text
    noticeText.replaceChildren(text, ...controls)
  },
  /** The address names the users and the conversation, so that a reload shows the same. */
  changed() {
    const [left, right] = panes
    const names = right ? { left: left.user, right: right.user } : { user: left?.user }
    const shown = { app: page.app, ...names, c: left?.conversation?.split("/").pop() }
    const query = new URLSearchParams(Object.entries(shown).filter(([, value]) => value))
    history.replaceState(null, "", `/demo?${query}`)
  },
}

/** Shows the panes of users and starts them one after another: the first one may find the application. Returns whether all did. */
async function open(users, conversation, options) {
  for (const pane of panes) pane.close()
  panes.splice(0, panes.length, ...users.map(user => new Pane(user, page)))
  const tabs = users.map((user, index) => element("button", { type: "button", "aria-pressed": String(index === 0),
    on: { click: () => show(index) } }, user))
  const show = index => {
    main.dataset.shown = String(index)
    tabs.forEach((tab, number) => tab.setAttribute("aria-pressed", String(number === index)))
  }
  main.className = users.length > 1 ? "panes" : "panes single"
  main.replaceChildren(...users.length > 1 ? [element("div", { class: "tabs", role: "group", "aria-label": "Device" }, tabs)] : [],
    ...panes.map(pane => pane.root))
  show(0)
  try {
    for (const pane of panes) await pane.start(conversation, options)
    return true
  } catch (failure) {
    page.notice(`The login failed. ${failure.message}`)
    start(users, failure.data?.property === "app_id")
    return false
  }
}

/** The first page: the names of the users, and the application where the server has several. */
function start(users, needsApplication) {
  main.className = ""
  const field = (label, value, attributes = {}) => {
    const input = element("input", { value, required: "", maxlength: "64", autocomplete: "off", ...attributes })
    return [input, element("label", {}, label, input)]
  }
  const [left, leftLabel] = field("Left user", users[0])
  const [right, rightLabel] = field("Right user", users[1] ?? "bo")
  const [app, appLabel] = field("Application id", page.app ?? "")
  if (!needsApplication) app.required = false
  const submit = async event => {
    event.preventDefault()
    page.notice("")
    if (needsApplication) page.app = app.value.trim()
    if (await open([left.value.trim(), right.value.trim()])) await panes[0].openWith([panes[1].user])
  }
  main.replaceChildren(element("form", { class: "start", on: { submit } },
    element("p", {}, "Two users share one server and nothing else. Send messages and files, take a device offline, reload the page, and watch what arrives."),
    leftLabel, rightLabel, needsApplication ? appLabel : null, element("button", { class: "primary" }, "Start")))
}

/** Two devices that are offline create the same distinct conversation; the server makes one of both. */
async function merge() {
  const suffix = Math.random().toString(36).slice(2, 6)
  if (!await open([`ana-${suffix}`, `bo-${suffix}`], null, { isOnline: false })) return
  for (const pane of panes) await pane.go(false)
  const [left, right] = panes
  await left.openWith([right.user], { text: `Written offline by ${left.user}` })
  await right.openWith([left.user], { text: `Written offline by ${right.user}` })
  const button = element("button", { type: "button", class: "primary", on: { click: async () => {
    page.notice("Both are online. Each conversation had an id of its own; the server keeps the older one, and the other id becomes an alias of it.")
    for (const pane of panes) await pane.go(true)
  } } }, "Bring both online")
  page.notice("Both devices are offline, and each has created a conversation with the other and written into it.", button)
}

navigation.append(
  element("a", { href: new URL("pane.js", import.meta.url).pathname }, "Source"),
  element("a", { href: "/docs" }, "Docs"),
  element("button", { type: "button", on: { click: merge } }, "Show a merge"))
// The server names the console if it is served here.
fetch("/").then(answer => answer.json()).then(({ links }) => { if (links.console) navigation.append(element("a", { href: "/console" }, "Console")) }, () => {})

// A browser may keep the page that is left, with its streams; it opens only six connections to a server.
addEventListener("pagehide", () => { for (const pane of panes) pane.close() })
addEventListener("pageshow", event => { if (event.persisted) location.reload() })

const conversation = query.get("c") && `layer:///conversations/${query.get("c")}`
const [user, left, right] = ["user", "left", "right"].map(name => query.get(name))
if (user) open([user], conversation)
else if (left && right) open([left, right], conversation)
else start(["ana", "bo"], false)
