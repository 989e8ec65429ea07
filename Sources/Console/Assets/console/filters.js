// Filters above a list: typing replaces the address, choosing makes an entry in the history.

import { input, select, span } from "./ui.js"
import { readTime, timeText } from "./format.js"
import { current, setQuery } from "./router.js"
import { element } from "../shared/dom.js"

const TYPING = 350

/**
 * Fields for filters. A filter is `{name, label, options, time, placeholder, list}`; `changed()` is called when the address
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
      ? select([["", "any"], ...filter.options], value, { on: { change: () => apply(true) } })
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

/** Removes all filters of a page from the address. */
export function clearFilters(names) {
  return () => setQuery(Object.fromEntries(names.map(name => [name, null])), { push: true })
}

/** Whether an address has any of the filters. */
export const isFiltered = (view, names) => names.some(name => view.query[name])

/** Replaces the list of a page by one with other filters, and returns it. */
export function replaceList(view, shown, next) {
  shown.replaceWith(next)
  if (current() === view) view.list = next
  return next
}
