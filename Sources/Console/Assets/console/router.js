// The address of a page is its state: reload, back and forward restore view, filters, scroll and focus.

import { inApp, setSignal } from "./api.js"
import { p, problem, skeleton } from "./ui.js"
import { element } from "../shared/dom.js"

/** The pages of the server and those of an application, by the word in their path. Filled in by `main.js`. */
export const pages = { server: {}, app: {} }

/** The headings of these pages while they are loaded. */
export const headings = { server: {}, app: {} }

/** How long a page may take until its place shows that it is loaded, in milliseconds. */
const PATIENCE = 150

let view = null
let shownAddress = null
let afterShow = () => {}
let guard = () => null

/** Calls an action after each page that is shown. */
export const onShow = action => { afterShow = action }

/** Sets what decides before a page is made: it returns another address to go to, or `null`. */
export const setGuard = action => { guard = action }

/** The address of a page of an application. */
export const pathTo = (app, ...segments) => `/console/a/${[app, ...segments].map(encodeURIComponent).join("/")}`

/** The page that is shown. */
export const current = () => view

/**
 * Reads an address: `{kind, name, app, id, tab, query}`. Of a page of an application, `path` makes paths of the API and `to`
 * addresses of pages within it.
 */
export function parse(url) {
  const parts = url.pathname.split("/").slice(2).filter(Boolean).map(text => {
    try { return decodeURIComponent(text) } catch { return text }
  })
  const query = Object.fromEntries(url.searchParams)
  if (parts[0] === "a") {
    const [, app, name, id = null, tab = null] = parts
    return { kind: "app", app, name, id, tab, query, path: (...names) => inApp(app, ...names), to: (...names) => pathTo(app, ...names) }
  }
  return { kind: "server", app: null, name: parts[0] ?? "overview", id: null, tab: null, query, isUnknown: parts.length > 1 }
}

/** Goes to an address: choosing makes an entry in the history, typing replaces the current one. */
export function go(href, { replace = false } = {}) {
  if (view) history.replaceState({ ...history.state, scroll: scrollY, focus: focusPath() }, "")
  history[replace ? "replaceState" : "pushState"]({}, "", href)
  return show()
}

/** Changes filters in the address of this page. Without `show` the page itself has applied them. */
export function setQuery(changes, { push = false, render = true } = {}) {
  const url = new URL(location.href)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  if (url.href === location.href) return
  if (render) return go(url.href, { replace: !push })
  history[push ? "pushState" : "replaceState"](history.state, "", url.href)
  if (view) view.query = Object.fromEntries(url.searchParams)
}

/** Shows the page of the address. */
export async function show({ restore = null } = {}) {
  view?.abort.abort()
  view?.dispose?.()
  const abort = new AbortController()
  const next = { ...parse(new URL(location.href)), abort, signal: abort.signal }
  const isSame = view && view.kind === next.kind && view.name === next.name && view.app === next.app && view.id === next.id
  view = next
  setSignal(abort.signal)
  const elsewhere = guard(next)
  if (elsewhere) {
    history.replaceState({}, "", elsewhere)
    return show()
  }
  const main = document.getElementById("main")
  main.setAttribute("aria-busy", "true")
  // The page before stays for a moment; one that is shown again stays until it is read.
  const isNew = shownAddress !== location.href
  shownAddress = location.href
  const timer = setTimeout(() => {
    if (isNew && view === next) main.replaceChildren(element("h1", { tabindex: "-1" }, headings[next.kind][next.name] ?? "Loading"), skeleton())
  }, PATIENCE)
  const page = next.isUnknown ? null : pages[next.kind][next.name]
  let made
  try {
    made = page ? await page(next) : notFound()
  } catch (failure) {
    if (failure.name === "AbortError") return
    if (failure.status === undefined) {
      main.removeAttribute("aria-busy")
      throw failure
    }
    made = { title: "Not available", nodes: [problem(failure, () => show())] }
  } finally {
    clearTimeout(timer)
  }
  if (abort.signal.aborted || view !== next) return
  Object.assign(view, { dispose: made.dispose, list: made.list, keys: made.keys })
  const heading = element("h1", { tabindex: "-1" }, ...[made.heading ?? made.title].flat())
  main.className = made.isNarrow ? "" : "wide"
  main.replaceChildren(heading, ...made.nodes.flat().filter(Boolean))
  main.removeAttribute("aria-busy")
  document.title = `${made.title} · Parley`
  afterShow(view)
  made.shown?.()
  if (restore) {
    await (made.list?.ready ?? made.ready)
    if (abort.signal.aborted) return
    scrollTo(0, restore.scroll ?? 0)
    if (restore.focus) document.querySelector(restore.focus)?.focus({ preventScroll: true })
  } else if (!isSame) {
    scrollTo(0, 0)
    if (document.activeElement === document.body) heading.focus({ preventScroll: true })
  }
}

const notFound = () => ({
  title: "Page not found",
  nodes: [p("There is no page at this address."), p(element("a", { href: "/console" }, "First page"))],
})

/** A selector of the element with the focus, to find it again after a reload. */
function focusPath() {
  const path = []
  for (let node = document.activeElement; node && node !== document.body && node.parentElement; node = node.parentElement) {
    path.unshift(node.id ? `#${CSS.escape(node.id)}` : `${node.localName}:nth-child(${[...node.parentElement.children].indexOf(node) + 1})`)
    if (node.id) break
  }
  return path.join(">") || null
}

/** Starts the router: links to pages of the console are followed without a load. */
export function start() {
  history.scrollRestoration = "manual"
  addEventListener("popstate", () => show({ restore: history.state ?? {} }))
  addEventListener("pagehide", () => history.replaceState({ ...history.state, scroll: scrollY, focus: focusPath() }, ""))
  document.addEventListener("click", event => {
    const target = event.target.closest?.("a[href]")
    if (!target || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const url = new URL(target.href, location.href)
    if (url.origin !== location.origin || !/^\/console(\/|$)/.test(url.pathname) || target.download || target.target
      || /^\/console\/(api|assets)(\/|$)/.test(url.pathname)) return
    event.preventDefault()
    go(url.href)
  })
  return show({ restore: history.state })
}
