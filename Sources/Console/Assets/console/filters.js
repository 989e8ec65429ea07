// Filters above a list: typing replaces the address, choosing makes an entry in the history.

import { input, select, span } from "./ui.js"
import { readTime, timeText } from "./format.js"
import { current, setQuery } from "./router.js"
import { element } from "../shared/dom.js"

const TYPING = 350

/** Filters by the time of creation. */
export const CREATED = ["after", "before"].map(side => ({ name: `created_${side}`, label: `Created ${side}`, time: true }))

/**
 * Fields for filters. A filter is `{name, label, options, none, time, placeholder, list}`; `changed()` is called when the address
 * has the new values.
 */
export function filters(view, definitions, changed) {
  let timer = null
  const controls = definitions.map(filter => {
    const value = view.query[filter.name] ?? ""
    const apply = push => {
      clearTimeout(timer)
      let text = control.value.trim()
      if (filter.time && text) {
        const time = readTime(text)
        control.setCustomValidity(time ? "" : "A time such as 2026-05-02 14:30")
        if (!time) return control.reportValidity()
        text = time
      }
      if ((view.query[filter.name] ?? "") === text) return
      setQuery({ [filter.name]: text }, { push, render: false })
      changed()
    }
    const control = filter.options
      ? select([["", filter.none ?? "any"], ...filter.options], value, { on: { change: () => apply(true) } })
      : input({
        value: filter.time && value ? timeText(value) : value, spellcheck: "false", placeholder: filter.placeholder ?? (filter.time ? "2026-05-02 14:30" : null),
        list: filter.list ?? null, on: {
          input() { clearTimeout(timer); if (!filter.time) timer = setTimeout(() => apply(false), TYPING) },
          change: () => apply(true),
        },
      })
    return element("label", {}, span(filter.label), control)
  })
  return element("form", { class: "filters", role: "search", "aria-label": "Filters", on: { submit: event => event.preventDefault() } }, controls)
}

/** What removes all filters of a page from its address; `null` if it has none. */
export function clearFilters(view, names) {
  return names.some(name => view.query[name]) ? () => setQuery(Object.fromEntries(names.map(name => [name, null])), { push: true }) : null
}

/** Replaces the list of a page by one with other filters, and returns it. */
export function replaceList(view, shown, next) {
  shown.replaceWith(next)
  if (current() === view) view.list = next
  return next
}
