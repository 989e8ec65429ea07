// Times, numbers and ids as texts. Every time is in one zone: that of the browser, or UTC.

const STORE = "parley-console"
const stored = (() => { try { return JSON.parse(localStorage[STORE] ?? "{}") } catch { return {} } })()

/** What the operator chose in this browser: `utc`, `theme`, `keys`, `app`. */
export const choices = { utc: false, theme: "system", keys: true, app: null, ...stored }

export function choose(name, value) {
  choices[name] = value
  try { localStorage[STORE] = JSON.stringify(choices) } catch { /* a browser without storage forgets the choice */ }
}

// How many milliseconds the clock of the server is ahead of this computer's.
let skew = 0

/** Compares the clocks; returns how far this computer's is ahead in seconds. */
export function setServerTime(text, sentAt) {
  const now = Date.now()
  skew = Date.parse(text) - (sentAt + now) / 2
  return Math.round(-skew / 1000)
}

/** The time of the server. */
export const serverNow = () => Date.now() + skew

const two = number => String(number).padStart(2, "0")

/** `2026-05-02 14:34:27.120` in the chosen zone. */
export function timeText(value) {
  const date = new Date(value)
  if (isNaN(date)) return String(value)
  const iso = choices.utc ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return iso.toISOString().slice(0, 23).replace("T", " ")
}

/** The name of the chosen zone, such as `UTC` or `UTC+02:00`. */
export function zoneText() {
  const minutes = choices.utc ? 0 : -new Date().getTimezoneOffset()
  if (!minutes) return "UTC"
  const size = Math.abs(minutes)
  return `UTC${minutes < 0 ? "−" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** Reads what is typed into a field for a time: the chosen zone if none is named; `null` if it is no time. */
export function readTime(text) {
  const plain = text.trim().replace(" ", "T")
  const named = /(Z|[+-]\d\d:?\d\d)$/.test(plain)
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(plain) ? `${plain}T00:00${choices.utc ? "Z" : ""}`
    : plain + (choices.utc && !named ? "Z" : ""))
  return isNaN(date) ? null : date.toISOString()
}

/** `3 min ago`, by the clock of the server. */
export function ago(value) {
  const seconds = (serverNow() - Date.parse(value)) / 1000
  const text = duration(Math.abs(seconds))
  return Math.abs(seconds) < 2 ? "now" : seconds < 0 ? `in ${text}` : `${text} ago`
}

/** `0.8 ms`, `3 min 20 s`, `2 d 4 h`, of seconds. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || isNaN(seconds)) return "–"
  if (seconds < 1) {
    const milliseconds = seconds * 1000
    return `${milliseconds < 10 ? Number(milliseconds.toPrecision(2)) : Math.round(milliseconds)} ms`
  }
  const units = [[86_400, "d"], [3600, "h"], [60, "min"], [1, "s"]]
  const first = units.findIndex(([size]) => seconds >= size)
  const [size, name] = units[first]
  const whole = Math.floor(seconds / size)
  const next = units[first + 1]
  const rest = next ? Math.floor((seconds - whole * size) / next[0]) : 0
  return `${whole} ${name}${rest ? ` ${rest} ${next[1]}` : ""}`
}

/** `0.14 %`. */
export const percent = share => `${share ? Number((share * 100).toPrecision(2)) : 0} %`

/** The last segment of an id such as `layer:///conversations/…`, decoded. */
export function nameOf(id) {
  const last = String(id ?? "").split("/").pop()
  try { return decodeURIComponent(last) } catch { return last }
}

const FORMAT = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g

/** An id with its invisible characters written as `\u{202e}`. */
export const visible = text => String(text).replace(FORMAT, character =>
  `\\u{${character.codePointAt(0).toString(16)}}`)
