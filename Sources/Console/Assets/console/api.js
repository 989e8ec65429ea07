// Requests to the console's own API, with the session cookie of this browser.

import { nameOf, setServerTime, timeText, visible } from "./format.js"
import { element } from "../shared/dom.js"

export const ROOT = "/console/api/"

/** The session of this page; `null` without a login. */
export let session = null

/** An answer that is not a success. */
export class Failure extends Error {
  constructor(message, { status = 0, id = null, data = null, request = null, retryAfter = 0, headers = null, text = "" } = {}) {
    super(message)
    Object.assign(this, { status, id, data, request, retryAfter, headers, text })
  }
}

/** `path?name=value`, without names that have no value. */
export function withQuery(path, query) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") search.set(name, value)
  }
  const text = search.toString()
  return text ? `${path}?${text}` : path
}

/** The path of an application below the API. */
export function inApp(app, ...segments) {
  const all = ["apps", app, ...segments].map(encodeURIComponent)
  if (all.some(segment => segment === "." || segment === "..")) throw new Error("This address is invalid.")
  return all.join("/")
}

/** The media type of a patch. */
export const PATCH = "application/vnd.layer-patch+json"

/** Whether a request has ended because its page was left; throws what is no failure of a request. */
export function isLeft(failure) {
  if (failure.name === "AbortError") return true
  if (failure.status === undefined) throw failure
  return false
}

// Reads of a page end when the page is left.
let pageSignal = null
export const setSignal = signal => { pageSignal = signal }

// Set by the login page: shows the dialog, and resolves when there is a session again.
let logInAgain = null
export const setLogin = action => { logInAgain = action }

/**
 * Sends a request and returns `{json, text, headers, status}`, or throws a `Failure`.
 *
 * When the session has ended, a dialog asks for a new login. A GET is then repeated by itself; a write is not, because
 * the operator may have changed: it waits for a second press.
 */
export async function call(method, path, { body, type = "application/json", headers = {}, signal, query, quiet } = {}) {
  const isRead = method === "GET" || method === "HEAD"
  signal ??= isRead && !quiet ? pageSignal : null
  const sentAt = Date.now()
  const url = path.startsWith("/") ? path : ROOT + withQuery(path, query)
  let answer, text
  try {
    answer = await fetch(url, {
      method, signal, credentials: "same-origin", cache: "no-store",
      headers: {
        Accept: "application/json", ...(!isRead && { "X-Parley-Console": "1" }),
        ...(body !== undefined && { "Content-Type": type }), ...headers,
      },
      body: body === undefined || typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body),
    })
    text = await answer.text()
  } catch (error) {
    if (error.name === "AbortError") throw error
    throw new Failure("The server does not answer.")
  }
  let json = null
  try { json = text ? JSON.parse(text) : null } catch { /* not JSON: a proxy may have answered */ }
  if (answer.ok) return { json, text, headers: answer.headers, status: answer.status, milliseconds: Date.now() - sentAt }
  const failure = new Failure(json?.message ?? json?.reason ?? `The server answered ${answer.status}.`, {
    status: answer.status, id: json?.id, data: json?.data, request: answer.headers.get("X-Request-Id"),
    retryAfter: retryAfter(answer), headers: answer.headers, text,
  })
  if (answer.status === 401 && !quiet && logInAgain) {
    session = null
    await logInAgain(signal)
    if (isRead) return call(method, path, { headers, signal, query, quiet })
    failure.message = "The session had ended. You are logged in again: press the button once more."
  }
  throw failure
}

/** The seconds after which the server wants to be asked again; 0 if it names none. */
export const retryAfter = answer => Number(answer.headers.get("Retry-After")) || 0

/** The base of the URLs of the API: another one than this page's where the console has addresses of its own. */
export const apiBase = () => session?.server.api ?? location.origin

/** Sends a GET and returns its JSON. */
export const get = async (path, query) => (await call("GET", path, { query })).json

/** Asks who is logged in; returns the session or `null`. */
export async function readSession() {
  const sentAt = Date.now()
  try {
    setSession((await call("GET", "session", { quiet: true })).json, sentAt)
  } catch (failure) {
    if (failure.status !== 401) throw failure
    session = null
  }
  return session
}

/** Stores a session, and compares the clocks. */
export function setSession(value, sentAt) {
  session = value
  if (value?.server?.time) clockSkew = setServerTime(value.server.time, sentAt)
}

/** How many seconds this computer's clock is ahead of the server's. */
export let clockSkew = 0

const ROLES = ["read", "write", "admin"]

/** Whether the session has the rights of a role. */
export const may = role => ROLES.indexOf(session?.role) >= ROLES.indexOf(role)

/** Whether the session is an operator's, not that of an application's token. */
export const isOperator = () => Boolean(session) && !session.app

/**
 * A button for a write. Without the role it stays, and says which role it needs.
 */
export function writeButton(label, role, action, attributes = {}) {
  return needing(role, { type: "button", ...attributes, on: { click: may(role) ? action : event => event.preventDefault() } }, label)
}

/** A button that says which role it needs, if the session does not have it. */
export const needing = (role, attributes, label) => !role || may(role) ? element("button", attributes, label)
  : element("button", { ...attributes, "aria-disabled": "true", title: `Needs role ${role}` }, label,
    element("span", { class: "visually-hidden" }, ` (needs role ${role})`))

/** Reads a list of the public API page by page, for `list`. */
export const pagesOf = (path, query = () => ({})) => async (cursor, size) => {
  const { json, headers } = await call("GET", path, { query: { ...query(), page_size: size, from_id: cursor, count: "none" } })
  return { items: json, next: nextPage(headers), note: scanNote(headers) }
}

/** Reads the conversation in the address, with the number of its messages and the times of writes to its metadata. */
export const readConversation = view =>
  call("GET", view.path("conversations", view.id), { query: { include: "details" } })

/** How far a search came that ended early; `null` if it did not. */
export function scanNote(headers) {
  const next = /next=(.*)/.exec(headers.get("Parley-Scan") ?? "")
  if (!next) return null
  // An id of version 7 begins with its time.
  const time = /^([0-9a-f]{8})-([0-9a-f]{4})-7/i.exec(next[1])
  return time ? `Searched back to ${timeText(parseInt(time[1] + time[2], 16)).slice(0, 19)}.` : `Searched up to ${visible(nameOf(next[1]))}.`
}

/** The parameter `from_id` of the next page, of a `Link` header; `null` after the last page. */
export function nextPage(headers) {
  const link = /<([^>]*)>;\s*rel="next"/.exec(headers.get("Link") ?? "")
  return link ? new URL(link[1], location.href).searchParams.get("from_id") : null
}
