// Every request of the API as a form, from the description that the server serves.

import { call, isLeft, may, needing, session, withQuery } from "./api.js"
import { choices, duration } from "./format.js"
import { setQuery } from "./router.js"
import { badge, button, command, confirmed, curl, facts, field, folded, h2, head, inRow, input, jsonView, link, muted, p, problem, row } from "./ui.js"
import { element } from "../shared/dom.js"

const COLUMNS = ["Method", "Path", "What it does"]

let description = null

/** Follows a reference within the description. */
const resolved = value => value?.$ref ? value.$ref.slice(2).split("/").reduce((node, key) => node[key], description) : value

/** The operations as `{id, method, path, summary, parameters, body}`. */
function operations() {
  return Object.entries(description.paths).flatMap(([path, methods]) => Object.entries(methods)
    .filter(([method]) => ["get", "post", "put", "patch", "delete"].includes(method))
    .map(([method, operation]) => ({
      method: method.toUpperCase(), path, id: operation.operationId, summary: operation.summary ?? "",
      parameters: [...methods.parameters ?? [], ...operation.parameters ?? []].map(resolved),
      body: resolved(operation.requestBody),
    }))).filter(operation => operation.path.startsWith("/apps/{app}"))
}

/** The example of a body or parameter, as text. */
function exampleOf(media) {
  const found = media?.example ?? Object.values(media?.examples ?? {})[0]?.value
  return found === undefined ? "" : typeof found === "string" ? found : JSON.stringify(found, null, 2)
}

export async function explorerPage(view) {
  description ??= (await call("GET", "/openapi.json")).json
  const all = operations()
  const chosen = all.find(operation => operation.id === view.query.operation)
  if (chosen) return operationPage(view, chosen)
  const find = input({ type: "search", value: view.query.q ?? "", "aria-label": "Search operations", placeholder: "Search operations", on: { input: fill } })
  const rows = element("tbody")
  const nothing = element("p", {}, "No operation matches. ", button(() => { find.value = ""; fill() }, "Clear filters"))
  function fill() {
    const text = find.value.trim().toLowerCase()
    setQuery({ q: find.value.trim() }, { render: false })
    rows.replaceChildren(...all.filter(({ method, path, summary }) => `${method} ${path} ${summary}`.toLowerCase().includes(text))
      .map(operation => row(COLUMNS, [badge(operation.method),
        link(`/console/explorer?operation=${operation.id}`, element("code", {}, operation.path)), operation.summary])))
    table.hidden = !rows.rows.length
    nothing.hidden = !table.hidden
  }
  const table = element("table", { class: "list" }, head(...COLUMNS), rows)
  fill()
  return { title: "API explorer", nodes: [
    p("Requests run with the rights of this login. ", link("/docs/endpoints", "All endpoints"), " · ", link("/openapi.json", "OpenAPI")),
    inRow(find), table, nothing] }
}

function operationPage(view, operation) {
  const app = choices.app ?? session.app ?? ""
  const parameters = operation.parameters.filter(one => ["path", "query", "header"].includes(one.in)).map(one => {
    const control = input({ value: one.in === "path" && one.name === "app" ? app : "", spellcheck: "false", required: one.in === "path" || one.required,
      placeholder: one.schema?.default ?? one.example ?? "" })
    control.addEventListener("input", preview)
    return { ...one, control }
  })
  const filled = place => Object.fromEntries(parameters.filter(one => one.in === place && one.control.value).map(one => [one.name, one.control.value]))
  const type = Object.keys(operation.body?.content ?? {})[0]
  const body = type ? element("textarea", { rows: "8", spellcheck: "false" }, exampleOf(operation.body.content[type])) : null
  body?.addEventListener("input", preview)
  const line = element("div")
  const answer = element("div", { "aria-live": "polite" })

  function path() {
    const values = filled("path")
    const made = operation.path.slice(1).replace(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(values[name] ?? "") || `{${name}}`)
    return withQuery(made, filled("query"))
  }
  function preview() {
    const text = curl(operation.method, path(), body?.value.trim() || undefined, filled("header"))
    line.replaceChildren(command(type?.includes("patch") ? text.replace("application/json", type) : text))
  }
  const allowed = operation.method === "GET" || may("write")
  const run = needing(operation.method === "GET" ? "read" : "write", { type: "submit", class: "primary" }, "Run")
  preview()
  return {
    title: `${operation.method} ${operation.path}`, heading: [badge(operation.method), " ", element("code", {}, operation.path)],
    nodes: [
      p(operation.summary, " ", link("/console/explorer", "All operations")),
      element("form", { class: "stack narrow", on: { submit(event) {
        event.preventDefault()
        if (!allowed || run.disabled) return
        if (operation.method === "DELETE") confirmed("Run this request?", `DELETE ${path()}`, "Run", send)
        else send()
      } } },
      parameters.map(one => field(one.name, one.control, one.description)), body ? field(`Body (${type})`, body) : null,
      inRow(run)),
      h2("The same with curl"), line, answer,
    ],
  }

  async function send() {
    run.disabled = true
    const began = performance.now()
    const show = ({ status, headers, text }) => answer.replaceChildren(h2("Answer"),
      facts([["Status", badge(String(status), status < 300 ? "ok" : "error")], ["Time", duration((performance.now() - began) / 1000)]]),
      folded("Headers", element("pre", { class: "raw", tabindex: "0" }, [...headers].map(([name, value]) => `${name}: ${value}`).join("\n"))),
      text ? jsonView(text) : muted("No body."))
    try {
      const result = await call(operation.method, path(), {
        body: body?.value.trim() || undefined, type, headers: filled("header"), signal: view.signal })
      show(result)
    } catch (failure) {
      if (isLeft(failure)) return
      if (failure.headers) show(failure)
      else answer.replaceChildren(problem(failure))
    } finally { run.disabled = false }
  }
}
