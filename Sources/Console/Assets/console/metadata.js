// The metadata of a conversation: edits are collected, shown as one patch, and sent with the version they were made on.

import { PATCH, call, readConversation } from "./api.js"
import { visible } from "./format.js"
import { show } from "./router.js"
import { button, clipped, dialog, field, form, h2, inRow, input, jsonView, narrow, p, rowEnd, say, span, timeNode } from "./ui.js"
import { count, element } from "../shared/dom.js"

const KEY = /^[A-Za-z0-9_-]+$/
const MOST_VALUE = 2048
const MOST_ALL = 256 * 1024
const MOST_LEVELS = 32
const size = text => new TextEncoder().encode(text).length

/** What is wrong with a path and a value, or an empty text. */
function mistake(path, value) {
  const keys = path.split(".")
  if (!keys.every(key => KEY.test(key))) return "A key has letters, digits, - and _; a dot separates the keys of nested objects."
  if (keys.length > MOST_LEVELS + 1) return `Metadata have at most ${MOST_LEVELS} levels.`
  if (size(value) > MOST_VALUE) return `The value has ${count(size(value))} bytes; at most ${count(MOST_VALUE)} are allowed.`
  return ""
}

/** Applies operations of a patch to a copy of the metadata. */
function applied(metadata, operations) {
  const copy = structuredClone(metadata)
  for (const { operation, property, value } of operations) {
    const keys = property.split(".").slice(1)
    const last = keys.pop()
    let node = copy
    for (const key of keys) {
      if (typeof node[key] !== "object") {
        if (operation === "delete") { node = null; break }
        node[key] = {}
      }
      node = node[key]
    }
    if (node && operation === "set") node[last] = value
    else if (node) delete node[last]
  }
  return copy
}

export async function metadataTab(view, conversation, tag) {
  let operations = []
  const tree = element("div")
  const review = element("button", { type: "button", class: "primary", on: { click: send } })
  const undo = button(() => { operations = []; draw() }, "Discard changes")
  const bar = inRow(review, undo)

  function change(operation) {
    operations = [...operations.filter(other => other.property !== operation.property), operation]
    draw()
  }

  function draw() {
    const shown = applied(conversation.metadata, operations)
    const isEmpty = !Object.keys(shown).length
    tree.replaceChildren(isEmpty ? p("There are no metadata.")
      : branch(shown, conversation.metadata_written_at, "metadata"))
    review.textContent = `Review ${operations.length} ${operations.length === 1 ? "change" : "changes"}`
    bar.hidden = !operations.length
  }

  /** A list of the keys of an object, with the times at which their texts were written. */
  function branch(object, times, path) {
    return element("ul", { class: "tree" }, Object.entries(object).map(([key, value]) => {
      const property = `${path}.${key}`
      const isChanged = operations.some(operation => operation.property === property)
      const name = element("bdi", { class: "key", dir: "auto" }, visible(key))
      const act = (verb, action) => element("button", { type: "button", class: "small", "aria-label": `${verb} ${property}`, on: { click: action } }, verb)
      const drop = act("Delete", () => change({ operation: "delete", property }))
      if (value !== null && typeof value === "object") {
        const details = element("details", {}, element("summary", {}, name, " ", drop),
          branch(value, times?.[key], property))
        details.open = true
        return element("li", {}, details)
      }
      const edit = act("Edit", () => editValue(property, value))
      const written = times?.[key]
      return element("li", { class: isChanged ? "changed" : "" },
        inRow(name, element("span", { class: "string" }, clipped(value)), edit, drop,
          isChanged ? element("span", { class: "badge warn" }, "changed")
            : typeof written === "string" ? span("written ", timeNode(written, true)) : null))
    }))
  }

  async function editValue(property, old) {
    const path = property.slice("metadata.".length)
    const value = await dialog(`Value of ${visible(path)}`, close => {
      const text = element("textarea", { rows: "4", "aria-label": "Value" }, old)
      text.addEventListener("input", () => text.setCustomValidity(mistake(path, text.value)))
      return element("form", { class: "stack", on: { submit(event) { event.preventDefault(); close(text.value) } } }, text,
        rowEnd(button(() => close(), "Cancel"),
          element("button", { type: "submit", class: "primary" }, "Change")))
    })
    if (value !== undefined && value !== old) change({ operation: "set", property, value })
  }

  async function send() {
    const bytes = size(JSON.stringify(applied(conversation.metadata, operations)))
    const wanted = await dialog("Send this patch?", close => [
      element("pre", { class: "raw", tabindex: "0" }, JSON.stringify(operations, null, 2)),
      bytes > MOST_ALL ? element("p", { class: "problem" }, `All metadata have ${count(bytes)} bytes; at most ${count(MOST_ALL)} are allowed.`) : null,
      form([], "Send", async key => {
        try {
          await patch(key)
          close(true)
        } catch (failure) {
          if (failure.status !== 412) throw failure
          close(failure.data ?? {})
        }
      }, { needs: "write" }),
      rowEnd(button(() => close(), "Cancel")),
    ])
    if (wanted === true) {
      say("The metadata were changed.")
      show()
    } else if (wanted) await conflict(wanted)
  }

  const patch = key => call("PATCH", view.path("conversations", view.id), {
    type: PATCH, body: operations,
    headers: { ...(tag && { "If-Match": tag }), "Idempotency-Key": key },
  })

  /** The conversation has changed meanwhile: both versions, and the same edits on the newer one. */
  async function conflict(other) {
    const answer = other.metadata ? other : (await readConversation(view)).json
    const next = await dialog("The metadata have changed meanwhile", close => [
      element("h3", {}, "Stored now"), jsonView(JSON.stringify(answer.metadata)),
      element("h3", {}, "With your changes"), jsonView(JSON.stringify(applied(conversation.metadata, operations))),
      rowEnd(
        button(() => close(), "Keep editing"),
        element("button", { type: "button", class: "primary", on: { click: () => close(true) } }, "Apply my changes to the stored version")),
    ])
    if (!next) return
    const fresh = await readConversation(view)
    conversation = fresh.json
    tag = fresh.headers.get("ETag")
    draw()
    await send()
  }

  const key = input({ required: true, spellcheck: "false", placeholder: "flat.floor" })
  const value = element("textarea", { rows: "2" })
  const validate = () => key.setCustomValidity(key.value ? mistake(key.value, value.value) : "")
  key.addEventListener("input", validate)
  value.addEventListener("input", validate)
  draw()
  return { nodes: [tree, bar, h2("Set a key"), narrow(
    form([field("Key", key, "A dot separates the keys of nested objects."), field("Value", value)], "Add to the changes", async () => {
      change({ operation: "set", property: `metadata.${key.value}`, value: value.value })
      key.value = value.value = ""
    }, { needs: "write" }))] }
}
