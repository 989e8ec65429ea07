// Line charts in SVG, with a summary in words, keys, and a table of the same numbers.

import { timeText } from "./format.js"
import { head } from "./ui.js"
import { element } from "../shared/dom.js"

const SVG = "http://www.w3.org/2000/svg"
const HEIGHT = 160
const MARGIN = { top: 8, right: 8, bottom: 22, left: 76 }
const DASHES = ["", "6 3", "2 3"]

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children.flat(2).filter(child => child !== null))
  return made
}

/** The least of 1, 2, 5 × 10ⁿ that is not below a number. */
function round(number) {
  if (!(number > 0)) return 1
  const size = 10 ** Math.floor(Math.log10(number))
  return [1, 2, 5, 10].map(factor => factor * size).find(step => step >= number * 0.999)
}

/**
 * A chart. `series` are `{name, values}` of one number for each step, `null` for a gap; `from` is the time of the first step
 * in milliseconds, `step` its length in milliseconds; `format` writes a number with its unit. `times` are those of values at
 * irregular times.
 */
export function chart({ title, metric, series, from, step, times, format }) {
  const length = Math.max(0, ...series.map(one => one.values.length))
  const timeOf = index => timeText(times ? times[index] : from + index * step).slice(5, 16)
  const most = round(Math.max(0, ...series.flatMap(one => one.values.filter(value => value !== null))))
  const reading = element("p", { class: "reading", "aria-live": "polite" })
  const place = element("div", { class: "plot", tabindex: "0", role: "img", "aria-label": `${title}: ${summary()}` })
  const table = element("div", { class: "scroll", hidden: true })
  const toggle = element("button", { type: "button", class: "small", "aria-expanded": "false", on: { click() {
    table.hidden = !table.hidden
    place.hidden = !table.hidden
    toggle.textContent = table.hidden ? "Show as table" : "Show as chart"
    toggle.setAttribute("aria-expanded", String(!table.hidden))
    if (!table.hidden) table.replaceChildren(numbers())
  } } }, "Show as table")
  let cursor = -1
  let width = 0

  function summary() {
    return series.map(one => {
      const known = one.values.map((value, index) => [value, index]).filter(([value]) => value !== null)
      if (!known.length) return `${one.name} has no value`
      const [highest, at] = known.reduce((best, item) => item[0] > best[0] ? item : best)
      return `${one.name} ${format(known.at(-1)[0])}, highest ${format(highest)} at ${timeOf(at)}`
    }).join("; ")
  }

  const x = index => MARGIN.left + (length > 1 ? index / (length - 1) : 0.5) * (width - MARGIN.left - MARGIN.right)
  const y = value => MARGIN.top + (1 - value / most) * (HEIGHT - MARGIN.top - MARGIN.bottom)

  /** The segments between gaps; a value between two gaps is a dot. */
  function path(values) {
    let text = ""
    let isOn = false
    values.forEach((value, index) => {
      if (value === null) { isOn = false; return }
      text += `${isOn ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`
      if (!isOn && (values[index + 1] ?? null) === null) text += "m-3 0h6"
      isOn = true
    })
    return text
  }

  function draw() {
    width = Math.max(200, place.clientWidth)
    const lines = [0, 0.5, 1].map(share => [
      svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(most * share), y2: y(most * share) }),
      svg("text", { x: MARGIN.left - 6, y: y(most * share) + 4, "text-anchor": "end" }, format(most * share)),
    ])
    // The labels of one or two steps would stand on each other.
    const labels = (length > 2 ? [0, 0.5, 1] : [0]).map(share => svg("text", {
      x: x((length - 1) * share), y: HEIGHT - 4, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle",
    }, length ? timeOf(Math.round((length - 1) * share)).slice(step < 60_000 ? 6 : 0) : ""))
    place.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, "aria-hidden": "true" },
      lines, labels, series.map((one, index) => svg("path", {
        class: `series s${index + 1}`, d: path(one.values), "stroke-dasharray": DASHES[index] ?? "" })),
      cursor >= 0 ? svg("line", { class: "cursor", x1: x(cursor), x2: x(cursor), y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }) : null))
  }

  function point(index) {
    cursor = Math.max(0, Math.min(length - 1, index))
    reading.textContent = `${timeOf(cursor)}: ${series.map(one =>
      `${one.name} ${(one.values[cursor] ?? null) === null ? "no value" : format(one.values[cursor])}`).join(", ")}`
    draw()
  }

  const numbers = () => element("table", { class: "matrix" },
    head("Time", ...series.map(one => one.name)),
    element("tbody", {}, Array.from({ length }, (_, index) => length - 1 - index).map(index => element("tr", {},
      element("th", { scope: "row" }, timeOf(index)),
      series.map(one => element("td", {}, (one.values[index] ?? null) === null ? "–" : format(one.values[index])))))))

  place.addEventListener("keydown", event => {
    const wanted = { ArrowLeft: (cursor < 0 ? length : cursor) - 1, ArrowRight: cursor + 1, Home: 0, End: length - 1 }[event.key]
    if (wanted === undefined) return
    event.preventDefault()
    point(wanted)
  })
  place.addEventListener("pointermove", event => {
    const at = (event.offsetX - MARGIN.left) / (width - MARGIN.left - MARGIN.right)
    if (length) point(Math.round(at * (length - 1)))
  })
  // Drawn in the next frame: a change of size within the observer would report a loop.
  new ResizeObserver(() => requestAnimationFrame(() => { if (place.clientWidth && place.clientWidth !== width) draw() })).observe(place)

  return element("figure", { class: "chart" },
    element("figcaption", {}, element("span", { title: metric }, title),
      element("span", { class: "legend" }, series.map((one, index) => element("span", { class: `key s${index + 1}` },
        svg("svg", { width: 24, height: 8, "aria-hidden": "true" }, svg("path", { class: `series s${index + 1}`, d: "M0 4H24", "stroke-dasharray": DASHES[index] ?? "" })),
        one.name))), toggle),
    place, table, reading)
}
