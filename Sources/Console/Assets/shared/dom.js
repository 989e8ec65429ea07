// Builds elements: text is always a text node, so that nothing a user wrote becomes markup.

/**
 * Makes an element.
 *
 * `attributes` may have `on`, an object of event listeners. Properties such as `value`, `disabled` and `hidden` are set as
 * properties, all others as attributes; those that are `null` are left out. Children are nodes or texts; `null` and `false`
 * are left out.
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue
    if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener)
    else if (key in made && typeof value !== "string") made[key] = value
    else made.setAttribute(key, value)
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false))
  return made
}

/** A text of a user in its own direction, so that it cannot reverse what stands beside it. */
export const userText = (text, name = "bdi") => element(name, { dir: "auto" }, text)

/**
 * A button that copies a text. Without TLS a browser has no clipboard for scripts: then a node is selected, if one is given.
 */
export function copyButton(text, node = null, kind = "small") {
  const button = element("button", { type: "button", class: kind, on: { async click() {
    try {
      await navigator.clipboard.writeText(text)
      button.textContent = "Copied"
    } catch {
      if (node) getSelection().selectAllChildren(node)
      button.textContent = node ? "Selected" : "Not allowed"
    }
    setTimeout(() => { button.textContent = "Copy" }, 2000)
  } } }, "Copy")
  return button
}

/** `1,234,567`. */
export const count = number => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",")

/** `1.4 MiB`. */
export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"]
  let unit = 0
  for (; number >= 1024 && unit < units.length - 1; unit++) number /= 1024
  return `${unit && number < 100 ? number.toFixed(1) : Math.round(number)} ${units[unit]}`
}

/** `14:34`, or `2 May 14:34` on another day than today. */
export function time(date) {
  const two = number => String(number).padStart(2, "0")
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`
  if (date.toDateString() === new Date().toDateString()) return clock
  return `${date.getDate()} ${date.toLocaleString("en", { month: "short" })} ${clock}`
}

/** A random UUID of version 4; `crypto.randomUUID` is missing where the page was loaded without TLS. */
export function uuid() {
  const random = crypto.getRandomValues(new Uint8Array(16))
  random[6] = random[6] & 15 | 64
  random[8] = random[8] & 63 | 128
  const digits = [...random].map(byte => byte.toString(16).padStart(2, "0")).join("")
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5")
}
