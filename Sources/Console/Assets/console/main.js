// The shell of the console: header, navigation, keys, and the pages.

import * as api from "./api.js"
import { isOperator, readSession, setLogin } from "./api.js"
import { choices, choose, zoneText } from "./format.js"
import { askForLogin, loginPage, logOut } from "./login.js"
import { current, go, headings, onShow, pages, pathTo, setGuard, show, start } from "./router.js"
import { checkRelease, onConnection } from "./stream.js"
import { attempt, button, dialog, field, folded, form, idText, input, link, p, rowEnd, say, select, span } from "./ui.js"
import { search } from "./search.js"
import { overviewPage } from "./overview.js"
import { appsPage, readAllApps } from "./apps.js"
import { conversationsPage } from "./conversations.js"
import { usersPage } from "./users.js"
import { logPage } from "./log.js"
import { webhooksPage } from "./webhooks.js"
import { accessPage } from "./access.js"
import { auditPage } from "./audit.js"
import { settingsPage } from "./settings.js"
import { jobsPage, transferPage } from "./jobs.js"
import { uploadsPage } from "./uploads.js"
import { explorerPage } from "./explorer.js"
import { element } from "../shared/dom.js"

pages.server = {
  login: loginPage, overview: overviewPage, apps: appsPage, jobs: jobsPage, settings: settingsPage, audit: auditPage, access: accessPage,
  explorer: explorerPage,
}
pages.app = {
  conversations: conversationsPage, users: usersPage, log: logPage, webhooks: webhooksPage,
  transfer: transferPage, uploads: uploadsPage,
}

// Name, text, key after `g`, role, whether only operators have it.
const SERVER_PAGES = [
  ["overview", "Overview", "o", "read", true], ["apps", "Applications", "a", "read", false],
  ["jobs", "Jobs", "j", "admin", false], ["settings", "Settings", "s", "admin", true], ["audit", "Audit", "d", "admin", true],
  ["access", "Access", null, "admin", true], ["explorer", "API explorer", null, "read", false],
]
// Name, text, key after `g`, whether only operators have it.
const APP_PAGES = [
  ["conversations", "Conversations", "c"], ["users", "Users", "u"], ["log", "Live log", "l"],
  ["webhooks", "Webhooks", "w"], ["uploads", "Uploads", null, true], ["transfer", "Transfer", null],
]

headings.server = Object.fromEntries(SERVER_PAGES)
headings.app = Object.fromEntries(APP_PAGES)

let apps = []

const top = document.getElementById("top")
const nav = document.getElementById("nav")
const notices = document.getElementById("notices")
const connection = element("span", { id: "connection", role: "status" })
const appChoice = element("select", { "aria-label": "Application", id: "app", on: { change() {
  choose("app", appChoice.value)
  const name = current().kind === "app" ? current().name : "conversations"
  go(pathTo(appChoice.value, name))
} } })
const searchField = input({ type: "search", id: "search", "aria-label": "Search", placeholder: "Id, URL or user", spellcheck: "false" })
const zone = element("button", { type: "button", id: "zone", title: "Switch between local time and UTC", on: { click: switchZone } })
const account = element("button", { type: "button", id: "account", on: { click: showAccount } })
const menu = element("button", { type: "button", id: "menu", "aria-controls": "nav", "aria-expanded": "false", on: { click: () => fold() } }, "Menu")

function fold(open = menu.getAttribute("aria-expanded") !== "true") {
  menu.setAttribute("aria-expanded", String(open))
  nav.classList.toggle("open", open)
}

// MARK: The header

function showHeader() {
  const isIn = Boolean(api.session)
  zone.textContent = zoneText()
  account.replaceChildren(...isIn ? [api.session.name ?? "token", span(` · ${api.session.role}`)] : [])
  top.replaceChildren(...[
    isIn ? menu : null, link("/console", "Parley", span(" console")), isIn ? connection : null,
    isIn ? element("form", { role: "search", on: { submit } }, searchField) : null,
    element("span", { class: "row tools" }, zone, isIn ? account : null,
      element("button", { type: "button", "aria-label": "Help", title: "Keys and help", on: { click: showHelp } }, "?")),
  ].filter(Boolean))
  top.querySelector("a").className = "brand"
  nav.hidden = !isIn
}

async function submit(event) {
  event.preventDefault()
  const text = searchField.value.trim()
  if (text) await attempt(() => search(text, appOfPage()))
}

const appOfPage = () => current()?.app ?? choices.app ?? api.session?.app ?? apps[0]?.id

function showNavigation(view) {
  const app = appOfPage()
  const items = (kind, pages, href) => element("ul", {}, pages.map(([name, text]) => element("li", {}, element("a", {
    href: href(name), "aria-current": view.kind === kind && view.name === name ? "page" : null }, text))))
  const server = SERVER_PAGES.filter(([, , , role, operator]) => api.may(role) && (!operator || isOperator()))
  appChoice.replaceChildren(...apps.map(item => element("option", { value: item.id }, item.name || item.id)))
  if (app && !apps.some(item => item.id === app)) appChoice.append(element("option", { value: app }, app))
  appChoice.value = app ?? ""
  nav.replaceChildren(
    items("server", server, name => `/console/${name}`),
    app ? element("div", { class: "of-app" }, appChoice,
      items("app", APP_PAGES.filter(page => !page[3] || isOperator()), name => pathTo(app, name))) : "")
  fold(false)
}

/** Reads the applications for the choice in the navigation. */
async function readApps() {
  apps = await readAllApps()
  if (!apps.some(app => app.id === choices.app)) choose("app", apps[0]?.id ?? null)
}

function switchZone() {
  choose("utc", !choices.utc)
  showHeader()
  show({ restore: { scroll: scrollY } })
}

function setTheme() {
  document.documentElement.style.setProperty("color-scheme", choices.theme === "system" ? "light dark" : choices.theme)
}

function showAccount() {
  const user = api.session
  dialog("Account", close => {
    const old = input({ type: "password", autocomplete: "current-password" })
    const next = input({ type: "password", autocomplete: "new-password", minlength: "12", required: true })
    return [
      p(idText(user.name ?? "token"), `, role ${user.role}`, user.app ? ", one application" : ""),
      field("Theme", select([["system", "As the system"], ["light", "Light"], ["dark", "Dark"]], choices.theme, { on: {
        change(event) { choose("theme", event.target.value); setTheme() } } })),
      button(() => { close(); switchZone() }, choices.utc ? "Show local time" : "Show UTC"),
      isOperator() ? folded("Change the password",
        form([field("Present password", old, "Leave it empty if you logged in with a link."),
          field("New password", next, "At least 12 bytes.")], "Change", async () => {
          await api.call("PUT", "password", { body: { ...(old.value && { old: old.value }), new: next.value } })
          close()
          say("The password was changed.")
        })) : null,
      rowEnd(
        button(() => close(), "Close"),
        button(() => { close(); attempt(logOut) }, "Log out")),
    ]
  })
}

// MARK: Keys

const GENERAL_KEYS = [
  ["?", "This help"], ["/", "Search"], ["j, k", "Next, previous row"], ["Enter", "Open the row"], ["Esc", "Close"],
  ["[, ]", "Older, newer"], ["f", "Follow the log"], ["t", "UTC or local time"], ["e", "Export the log"],
]

function showHelp() {
  const toggle = element("input", { type: "checkbox", checked: choices.keys, on: {
    change: () => choose("keys", toggle.checked) } })
  dialog("Help", close => [
    p(link("/docs", "Documentation"), " of this release."),
    element("table", { class: "keys" }, element("tbody", {}, [...GENERAL_KEYS,
      ...[...SERVER_PAGES, ...APP_PAGES].filter(page => page[2]).map(page => [`g ${page[2]}`, page[1]]),
    ].map(([keys, text]) => element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, keys)), element("td", {}, text))))),
    element("label", { class: "check" }, toggle, "Use these keys"),
    rowEnd(button(() => close(), "Close")),
  ])
}

let isGoing = false

function pressed(event) {
  if (!choices.keys || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !api.session
    || document.querySelector("dialog[open]") || event.target.closest?.("input, textarea, select, [contenteditable]")) return
  const key = event.key
  const view = current()
  if (isGoing) {
    isGoing = false
    const server = SERVER_PAGES.find(page => page[2] === key)
    const page = APP_PAGES.find(page => page[2] === key)
    if (server) go(`/console/${server[0]}`)
    else if (page && appOfPage()) go(pathTo(appOfPage(), page[0]))
    else return
    return event.preventDefault()
  }
  const actions = {
    g() { isGoing = true; setTimeout(() => { isGoing = false }, 1500) },
    "?": showHelp, "/": () => searchField.focus(), t: switchZone,
    j: () => view.list?.step?.(1), k: () => view.list?.step?.(-1), ...view.keys,
  }
  if (!actions[key]) return
  event.preventDefault()
  actions[key]()
}

// MARK: Start

function failed(error) {
  if (error?.name === "AbortError") return
  document.getElementById("main").replaceChildren(element("h1", {}, "This page failed"),
    element("p", { class: "problem", role: "alert" }, String(error?.message ?? error)),
    p(button(() => location.reload(), "Reload")))
}

/** Shows notices above the page: clock skew, a missing password, another release. */
function notice(node) { notices.append(element("div", { class: "notice" }, node)) }

async function begin() {
  setTheme()
  document.body.append(element("div", { id: "toasts", "aria-live": "polite" }))
  setLogin(askForLogin)
  onConnection((text, kind) => { connection.textContent = text; connection.className = kind })
  addEventListener("error", event => failed(event.error ?? event.message))
  addEventListener("unhandledrejection", event => failed(event.reason))
  addEventListener("keydown", pressed)
  let shownFor = null
  setGuard(view => {
    const isLogin = view.kind === "server" && view.name === "login"
    if (!api.session) return isLogin ? null : `/console/login?to=${encodeURIComponent(location.pathname + location.search)}`
    if (view.kind === "server" && view.name === "overview" && !isOperator()) return "/console/apps"
    return isLogin && !location.hash ? "/console" : null
  })
  onShow(view => {
    if (shownFor !== api.session) {
      shownFor = api.session
      showHeader()
      showNotices()
      if (api.session) readApps().then(() => showNavigation(current()), failure => say(failure.message))
    }
    if (view.app) choose("app", view.app)
    if (api.session) showNavigation(view)
  })
  document.addEventListener("visibilitychange", () => { if (!document.hidden) checkRelease(notice) })
  await readSession()
  showHeader()
  await start()
}

function showNotices() {
  notices.replaceChildren()
  if (api.session?.has_password === false) {
    notice(p("This operator has no password. ",
      button(showAccount, "Set a password"), " to log in without a link."))
  }
  if (Math.abs(api.clockSkew) > 5) {
    notice(p(`This computer's clock is ${Math.abs(api.clockSkew)} s ${api.clockSkew > 0 ? "ahead of" : "behind"} the server's; correct it. Relative times use the server's clock.`))
  }
}

begin().catch(failed)
