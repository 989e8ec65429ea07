// Parts that pages share: states of a request, lists, dialogs, texts of users and JSON.

import { apiBase, isLeft, may, needing, writeButton } from "./api.js"
import { copyButton, count, element, userText, uuid } from "../shared/dom.js"
import { ago, serverNow, timeText, visible } from "./format.js"

const maker = (name, attributes = {}) => (...children) => element(name, attributes, ...children)
export const p = maker("p")
export const span = maker("span")
export const faint = maker("span", { class: "muted" })
export const h2 = maker("h2")
export const muted = maker("p", { class: "muted" })
/** A part that is not wider than a form. */
export const narrow = maker("div", { class: "narrow" })
/** A part that opens below its title. */
export const folded = (title, ...children) => element("details", {}, element("summary", {}, title), narrow(...children))
/** The buttons at the end of a dialog. */
export const rowEnd = maker("div", { class: "row end" })
/** Nodes beside each other; they wrap. */
export const inRow = maker("div", { class: "row" })
/** Controls above a part. */
export const tools = maker("div", { class: "row tools" })
export const button = (action, ...label) => element("button", { type: "button", on: { click: action } }, ...label)
export const smallButton = (action, ...label) => element("button", { type: "button", class: "small", on: { click: action } }, ...label)

// MARK: Texts

const CLIP = 2000

/** A text of a user, as text and in its own direction; long ones are cut until the operator asks for more. */
export function clipped(text) {
  const whole = String(text)
  if (whole.length <= CLIP) return userText(whole)
  const shown = userText(whole.slice(0, CLIP))
  const more = smallButton(() => {
    shown.textContent = whole
    more.remove()
  }, `Show all (${count(whole.length)})`)
  return span(shown, more)
}

/** An id with its invisible characters made visible. */
export const idText = id => element("bdi", { class: "id", dir: "ltr" }, visible(id))

/** A link to a page of the console. */
export const link = (href, ...children) => element("a", { href }, ...children)

/** A URL of a user as a link if it is http or https, otherwise as text. */
export function urlText(url) {
  if (!/^https?:/i.test(url)) return userText(url)
  return element("a", { href: url, rel: "noopener noreferrer", target: "_blank", dir: "ltr" }, visible(url))
}

/** A moment; the title has the time in UTC, for copying. */
export function timeNode(value, relative = false) {
  if (!value) return faint("–")
  const iso = new Date(value).toISOString()
  return element("time", { datetime: iso, title: iso }, timeText(value),
    relative ? faint(` ${ago(value)}`) : null)
}

/** A name and whether it is good news: never by colour alone. */
export const badge = (text, kind = "") => element("span", { class: `badge ${kind}` }, text)

/** A command for a terminal. `$TOKEN` stays a variable, so that no secret is copied. */
export function command(text) {
  const code = element("code", {}, text)
  return element("div", { class: "command" }, element("pre", { tabindex: "0" }, code), copyButton(text, code))
}

/** A text in single quotes for a shell. */
const quoted = text => `'${String(text).replaceAll("'", `'\\''`)}'`

/** The curl command of a request to the public API. */
export function curl(method, path, body, headers = {}) {
  const lines = [`curl -sS -X ${method} ${quoted(`${apiBase()}/${path}`)}`, `-H "Authorization: Bearer $TOKEN"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)]
  if (body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(body)}`)
  return lines.join(" \\\n  ")
}

/** A list of names and values. */
export const facts = pairs => element("dl", { class: "facts" }, pairs.filter(Boolean).map(([name, ...value]) =>
  element("div", {}, element("dt", {}, name), element("dd", {}, ...value))))

/** The head of a table. */
export const head = (...names) => element("thead", {}, element("tr", {}, names.map(name => element("th", { scope: "col" }, name))))

/** A row of a list; under 640 px each cell has its name beside it. */
export const row = (names, cells) => element("tr", {}, cells.map((cell, index) =>
  element("td", { "data-label": names[index] }, element("div", {}, ...[cell].flat()))))

/** Links to the tabs of an object, and its actions. `tabs` are `[name, text]`. */
export function tabBar(label, tabs, current, hrefOf, ...actions) {
  return element("nav", { class: "tabs", "aria-label": label }, tabs.map(([name, text]) =>
    element("a", { href: hrefOf(name), "aria-current": name === current ? "page" : null }, text)), ...actions)
}

/** A bar with its share as text. */
export function bar(share, text) {
  const inner = element("span", { class: "fill" })
  inner.style.setProperty("width", `${Math.max(0, Math.min(1, share || 0)) * 100}%`)
  return element("span", { class: "progress" }, element("span", { class: "track", "aria-hidden": "true" }, inner), span(text))
}

/** Reads a list again each second while `when()` holds. Rows that are being read do not change, unless each `keepsItsPlace`. */
export function refreshed(view, shown, when, keepsItsPlace = false) {
  const busy = keepsItsPlace ? "[aria-busy]" : ":hover,:focus-within,[aria-busy]"
  const timer = setInterval(() => {
    if (when() && !document.hidden && !shown.matches(busy) && !shown.querySelector("tr:nth-child(51), .problem")) shown.reload()
  }, 1000)
  view.signal.addEventListener("abort", () => clearInterval(timer))
}

// MARK: States

/** What stands in the place of something that is loaded. */
export const skeleton = () => element("div", { class: "skeleton" }, element("span"), element("span"), element("span"))

/** What went wrong, with the id of the request, what can be done, and the time of what is still shown. */
export function problem(failure, retry, shownAt) {
  const isGone = failure.id === "position_gone"
  return element("div", { class: "problem", role: "alert" },
    p(isGone ? `The log is kept from position ${count(failure.data.position)} on.` : failure.message),
    failure.request ? muted("Request ", element("code", {}, failure.request)) : null,
    retry && failure.status !== 403 && !isGone ? button(retry, "Retry") : null,
    shownAt ? muted(`Shown as of ${timeText(shownAt)}.`) : null)
}

/**
 * A part of a page that is requested: it shows a skeleton, then what `show` makes of the answer, or what went wrong.
 * What was shown before stays when a later request fails, with its time.
 */
export function loading(load, show) {
  const node = element("div", { class: "loading" })
  let shownAt = null
  node.reload = async () => {
    node.setAttribute("aria-busy", "true")
    const timer = setTimeout(() => { if (!shownAt) node.replaceChildren(skeleton()) }, 150)
    try {
      const made = [await show(await load())].flat()
      shownAt = serverNow()
      node.replaceChildren(...made.filter(Boolean))
    } catch (failure) {
      if (isLeft(failure)) return
      const box = problem(failure, node.reload, shownAt)
      if (shownAt) {
        node.querySelector(":scope > .problem")?.remove()
        node.prepend(box)
      } else node.replaceChildren(box)
    } finally {
      clearTimeout(timer)
      node.removeAttribute("aria-busy")
    }
  }
  node.ready = node.reload()
  return node
}

// MARK: Lists

const PAGE = 50
const MOST_ROWS = 300

/**
 * A table that is read page by page: never more than 300 rows are in the page.
 *
 * `fetch(cursor)` returns `{items, next, note}`, or all items; `row(item)` returns the cells, in the order of `columns`. `empty` are
 * nodes for a list without items, `clear` removes the filters. `note` says how far a search that ended early came.
 */
export function list({ label, columns, fetch, row: cellsOf, empty, clear }) {
  const body = element("tbody")
  const table = element("table", { class: "list", "aria-label": label, hidden: true },
    head(...columns), body)
  const foot = element("div", { class: "row foot" })
  const node = element("div", { class: "list-box" }, table, foot)
  let cut = false
  let shownAt = null
  // Of a list without pages, the items after those in the page.
  let rest = null

  function add(items) {
    for (const item of items) {
      const made = row(columns, cellsOf(item))
      made.tabIndex = body.rows.length ? -1 : 0
      body.append(made)
    }
    while (body.rows.length > MOST_ROWS) {
      body.rows[0].remove()
      cut = true
    }
    if (body.rows.length && !body.querySelector("[tabindex='0']")) body.rows[0].tabIndex = 0
  }

  async function more(cursor) {
    node.setAttribute("aria-busy", "true")
    const timer = setTimeout(() => { if (!body.rows.length) foot.replaceChildren(skeleton()) }, 150)
    try {
      const found = cursor && rest ? rest : await fetch(cursor, PAGE)
      rest = Array.isArray(found) ? found.slice(MOST_ROWS) : null
      const { items, next, note } = rest ? { items: found.slice(0, MOST_ROWS), next: rest.length } : found
      if (!cursor) { body.replaceChildren(); cut = false }
      add(items)
      shownAt = serverNow()
      const isEmpty = !body.rows.length
      table.hidden = isEmpty
      foot.replaceChildren(...[
        // The rest of the list may have matches.
        isEmpty && !next ? clear ? [p("Nothing matches the filters."), button(clear, "Clear filters")] : empty : null,
        note ? muted(note, isEmpty ? " Nothing matched so far." : "") : null,
        cut ? button(() => more(null), "Back to the start") : null,
        next ? element("button", { type: "button", class: "more", on: { click: () => more(next) } },
          note ? "Continue" : "Show more") : null,
      ].flat().filter(Boolean))
    } catch (failure) {
      if (isLeft(failure)) return
      foot.replaceChildren(problem(failure, () => more(cursor), shownAt))
    } finally {
      clearTimeout(timer)
      node.removeAttribute("aria-busy")
    }
  }

  table.addEventListener("keydown", event => {
    const at = event.target.closest("tr")
    if (event.target !== at) return
    const rows = [...body.rows]
    const index = rows.indexOf(at)
    const wanted = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (event.key === "Enter") at.querySelector("a, button")?.click()
    if (wanted === undefined) return
    event.preventDefault()
    focusRow(rows[wanted])
  })

  node.reload = () => more(null)
  node.step = by => {
    const rows = [...body.rows]
    focusRow(rows[rows.indexOf(document.activeElement.closest?.("tr")) + by] ?? rows[0])
  }
  node.ready = more(null)
  return node
}

function focusRow(row) {
  if (!row) return
  for (const other of row.parentElement.rows) other.tabIndex = other === row ? 0 : -1
  row.focus()
}

// MARK: Forms and dialogs

/** A control with its label, and a hint below. */
export function field(label, control, hint) {
  return element("label", { class: "field" }, span(label), control,
    hint ? element("small", { class: "muted" }, hint) : null)
}

export const input = (attributes = {}) => element("input", { type: "text", autocomplete: "off", ...attributes })

/** A field that goes somewhere; `act(text)` returns what is wrong with the text, or nothing. */
export function jumpForm(placeholder, act) {
  const place = input({ placeholder, "aria-label": `Go to a ${placeholder}`, spellcheck: "false", on: { input: () => place.setCustomValidity("") } })
  return element("form", { class: "row", on: { submit(event) {
    event.preventDefault()
    place.setCustomValidity(act(place.value.trim()) ?? "")
    place.reportValidity()
  } } }, place, element("button", { type: "submit" }, "Go"))
}

export const select = (options, value, attributes = {}) => {
  const made = element("select", attributes, options.map(option => {
    const [key, text] = [option].flat()
    return element("option", { value: key }, text ?? key)
  }))
  made.value = value ?? [options[0]].flat()[0]
  return made
}

/** Says what has happened, at the bottom of the window. */
export function say(...content) {
  const line = element("p", { class: "toast", role: "status" }, ...content,
    element("button", { type: "button", class: "small", "aria-label": "Close", on: { click: () => line.remove() } }, "×"))
  document.getElementById("toasts").append(line)
  setTimeout(() => line.remove(), 10_000)
}

/** Opens a dialog over the page; `build(close)` returns its content. The result is what `close` is called with. */
export function dialog(title, build, { closes = true } = {}) {
  return new Promise(resolve => {
    let result
    const close = value => { result = value; box.close() }
    const box = element("dialog", { "aria-label": title, on: {
      close() { box.remove(); resolve(result) },
      cancel(event) { if (!closes) event.preventDefault() },
    } })
    box.append(h2(title), ...[build(close)].flat().filter(Boolean))
    document.body.append(box)
    box.showModal()
  })
}

/**
 * Asks before something is lost, then runs an action. `typed` is an id that the operator has to type, for what cannot be
 * undone.
 */
export async function confirmed(title, effect, verb, action, typed) {
  const sure = await dialog(title, close => {
    const typing = typed ? input({ "aria-label": "Id", spellcheck: "false" }) : null
    const act = element("button", { type: "submit", class: "danger" }, verb)
    if (typed) {
      act.disabled = true
      typing.addEventListener("input", () => { act.disabled = typing.value !== typed })
    }
    return element("form", { on: { submit(event) { event.preventDefault(); close(true) } } },
      p(visible(effect)),
      typed ? field(`Type ${visible(typed)} to confirm`, typing) : null,
      rowEnd(
        button(() => close(false), "Cancel"), act))
  })
  if (sure) await attempt(action)
}

/** The header of a write that is done once, however often it is sent. */
export const keyed = key => ({ "Idempotency-Key": key })

/** Sends a request, says that it was done, and goes on. `send` gets a key for `Idempotency-Key`, the same until it succeeds. */
function sent(send, done, then) {
  let key = uuid()
  return async () => {
    await send(key)
    key = uuid()
    say(...[done].flat())
    then()
  }
}

/** A button that sends a request, says that it was done, and goes on. */
export function actButton(label, role, send, done, then, attributes) {
  const action = sent(send, done, then)
  return writeButton(label, role, () => attempt(action), attributes)
}

/** A small button that asks before it does the same; `typed` is an id that the operator has to type. */
export function confirmButton(label, role, title, effect, send, done, then, { verb = label, typed, ...attributes } = {}) {
  const action = sent(send, done, then)
  return writeButton(label, role, () => confirmed(title, effect, verb, action, typed), { class: "small", ...attributes })
}

/**
 * A form whose submit runs an action once at a time, and shows what went wrong below the fields.
 * `action` gets a key for `Idempotency-Key`, the same until it succeeds. `needs` is the role for it.
 */
export function form(children, label, action, { needs = null, ...attributes } = {}) {
  const failed = element("div")
  const allowed = !needs || may(needs)
  const button = needing(needs, { type: "submit", class: "primary" }, label)
  let key = uuid()
  const made = element("form", { class: "stack", ...attributes, on: { async submit(event) {
    event.preventDefault()
    if (button.disabled || !allowed) return
    button.disabled = true
    failed.replaceChildren()
    try {
      await action(key, made)
      key = uuid()
    } catch (failure) {
      if (isLeft(failure)) return
      failed.replaceChildren(problem(failure))
    } finally {
      button.disabled = false
    }
  } } }, ...children, failed, inRow(button))
  return made
}

/** Runs a write of a button; what goes wrong is said at the bottom of the window. */
export async function attempt(action) {
  try {
    await action()
  } catch (failure) {
    if (isLeft(failure)) return
    say(failure.message, failure.request ? ` (request ${failure.request})` : "")
  }
}

/** Saves bytes as a file. */
export function download(blob, name) {
  const href = URL.createObjectURL(blob)
  element("a", { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}

// MARK: JSON

const NODES = 2000

/** JSON as a tree that opens, or as its raw text, in which numbers are exact. */
export function jsonView(text) {
  let value
  try { value = JSON.parse(text) } catch { return element("pre", { class: "raw", tabindex: "0" }, clipped(text)) }
  const raw = () => element("pre", { class: "raw", tabindex: "0" }, clipped(indented(text)))
  const place = element("div")
  const show = isTree => {
    place.replaceChildren(isTree ? tree(value) : raw())
    treeButton.setAttribute("aria-pressed", String(isTree))
    rawButton.setAttribute("aria-pressed", String(!isTree))
  }
  const treeButton = smallButton(() => show(true), "Tree")
  const rawButton = smallButton(() => show(false), "Raw")
  show(true)
  return element("div", { class: "json" }, inRow(treeButton, rawButton, copyButton(text)), place)
}

/** Indents JSON without parsing its numbers. */
function indented(text) {
  let depth = 0
  return text.replace(/"(?:[^"\\]|\\.)*"|[{}[\],:]|\s+/g, token => {
    if (token[0] === '"') return token
    if (token === ":") return ": "
    if (token === ",") return `,\n${"  ".repeat(depth)}`
    if ("{[".includes(token)) return `${token}\n${"  ".repeat(++depth)}`
    if ("}]".includes(token)) return `\n${"  ".repeat(--depth)}${token}`
    return ""
  }).replace(/([{[])\s+([}\]])/g, "$1$2")
}

function tree(value) {
  let left = NODES
  const build = (name, item, depth) => {
    if (left-- <= 0) return null
    const label = name === null ? null : element("bdi", { class: "key", dir: "auto" }, visible(name))
    if (item === null || typeof item !== "object") {
      return element("li", {}, label, label ? ": " : null,
        typeof item === "string" ? element("span", { class: "string" }, "“", clipped(item), "”") : element("code", {}, String(item)))
    }
    const entries = Array.isArray(item) ? item.map((child, index) => [String(index), child]) : Object.entries(item)
    const summary = element("summary", {}, label, label ? " " : null,
      faint(Array.isArray(item) ? `(${entries.length})` : `{${entries.length}}`))
    const list = element("ul")
    let made = 0
    const fill = () => {
      left = NODES
      list.querySelector(":scope > .rest")?.remove()
      while (made < entries.length && left > 0) {
        const [key, child] = entries[made++]
        list.append(build(key, child, depth + 1) ?? "")
      }
      if (made < entries.length) {
        list.append(element("li", { class: "rest" }, smallButton(fill, `Show more (${count(entries.length - made)})`)))
      }
    }
    const details = element("details", { on: { toggle() { if (details.open && !made) fill() } } }, summary, list)
    if (depth < 2) { details.open = true }
    return element("li", {}, details)
  }
  return element("ul", { class: "tree" }, build(null, value, 0))
}
