// The settings in force, where they come from, and the line to change them. They are read only.

import { get } from "./api.js"
import { clearFilters, filters, replaceList } from "./filters.js"
import { badge, clipped, faint, inRow, link, list, p, span } from "./ui.js"
import { copyButton, element } from "../shared/dom.js"

const FILTERS = ["name", "changed"]
const shown = value => value === null || value === "" ? "none" : String(value)
/** The line of an environment file; of a secret its name. */
const variable = item => `PARLEY_${item.name.toUpperCase().replaceAll(".", "_")}${item.value === null && item.set ? "" : `=${item.value ?? ""}`}`

export async function settingsPage(view) {
  const make = () => list({
    label: "Settings", columns: ["Setting", "Value", "Default", "Source", "Variable"],
    async fetch() {
      const all = await get("settings")
      return all.filter(item => (!view.query.name || item.name.includes(view.query.name.toLowerCase()))
        && (!view.query.changed || item.source !== "default"))
    },
    row: item => [
      span(element("code", {}, item.name), item.restart ? element("div", {}, badge("restart")) : null),
      span(item.value === null && item.set ? badge("secret, set", "ok") : clipped(shown(item.value)),
        item.pending ? element("div", {}, badge("pending", "warn"), " ", clipped(shown(item.pending))) : null),
      faint(clipped(shown(item.default))),
      span(item.source, item.from ? element("div", { class: "muted" }, clipped(item.from)) : null),
      inRow(element("code", {}, variable(item)), copyButton(variable(item))),
    ],
    clear: clearFilters(view, FILTERS),
    empty: [p("There are no settings.")],
  })
  let table = make()
  return {
    title: "Settings", list: table,
    nodes: [
      p("Settings are read only here. Change a variable of the environment, the configuration file or a flag; ",
        link("/docs/settings", "Settings"), " explains each. Settings marked “restart” change after a restart; the others also after SIGHUP."),
      filters(view, [{ name: "name", label: "Name", placeholder: "uploads." }, { name: "changed", label: "Changed", options: [["true", "yes"]] }],
        () => { table = replaceList(view, table, make()) }), table],
  }
}
