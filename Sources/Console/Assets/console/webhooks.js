// Webhooks of an application: registration, tests, deliveries and their attempts.

import { call, get, pagesOf } from "./api.js"
import { chart } from "./chart.js"
import { eventLink, positionLink } from "./events.js"
import { clearFilters, filters } from "./filters.js"
import { duration, nameOf, percent } from "./format.js"
import { go, show } from "./router.js"
import { actButton, attempt, badge, button, clipped, confirmButton, facts, field, folded, form, h2, idText, inRow, input, jsonView, keyed, link, list, loading, muted, narrow, p, say, span, timeNode, tools, urlText } from "./ui.js"
import { count, element } from "../shared/dom.js"

const EVENTS = ["Message.created", "Message.deleted", "Conversation.created", "Conversation.updated", "Conversation.merged",
  "Conversation.deleted", "Receipt.created", "MessagePart.created", "MessagePart.updated", "MessagePart.deleted",
  "Participation.created", "Participation.deleted"]

const status = webhook => badge(webhook.status, { active: "ok", inactive: "error", unverified: "warn" }[webhook.status])
const title = webhook => webhook.config?.name || webhook.target_url

export async function webhooksPage(view) {
  if (view.id) return webhookPage(view)
  const shown = list({
    label: "Webhooks", columns: ["Target", "State", "Events", "Version", "Created"],
    fetch: pagesOf(view.path("webhooks")),
    row: item => [
      span(link(view.to("webhooks", nameOf(item.id)), clipped(title(item))),
        item.config?.name ? element("div", { class: "muted" }, clipped(item.target_url)) : null),
      span(status(item), item.status_reason ? element("div", { class: "muted" }, clipped(item.status_reason)) : null),
      item.events.length > 3 ? `${item.events.slice(0, 3).join(", ")} and ${item.events.length - 3} more` : item.events.join(", "),
      item.version, timeNode(item.created_at),
    ],
    empty: [p("This application has no webhooks. Register the first one below.")],
  })
  const target = input({ type: "url", required: true, placeholder: "https://receiver/in", pattern: "https?:.+" })
  const secret = input({ required: true, spellcheck: "false" })
  const name = input({ placeholder: "audit" })
  const events = EVENTS.map(event => element("label", { class: "check" },
    element("input", { type: "checkbox", value: event, checked: event === "Message.created" }), event))
  const generate = button(() => {
    secret.value = `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(24))))}`
  }, "Generate")
  return {
    title: "Webhooks", list: shown,
    nodes: [shown, h2("Register a webhook"), narrow(form([
      field("Target URL", target, "It has to answer the verification: a GET with a challenge."),
      field("Name", name),
      inRow(field("Secret", secret, "Store it with the receiver: it is not shown again."), generate),
      element("fieldset", {}, element("legend", {}, "Events"), events),
    ], "Register", async key => {
      const chosen = events.map(label => label.firstChild).filter(box => box.checked).map(box => box.value)
      const answer = await call("POST", view.path("webhooks"), { headers: keyed(key), body: {
        version: "3.0", target_url: target.value, events: chosen, secret: secret.value, config: name.value ? { name: name.value } : {} } })
      say("The webhook was registered.")
      go(view.to("webhooks", nameOf(answer.json.id)))
    }, { needs: "admin" }))],
  }
}

async function webhookPage(view) {
  const path = view.path("webhooks", view.id)
  const webhook = await get(path)
  const post = action => key => call("POST", `${path}/${action}`, { headers: keyed(key) })
  const state = view.query.state ?? ""
  const deliveries = list({
    label: "Deliveries", columns: ["Event", "State", "Attempts", "Created", "Next attempt", "Last answer", ""],
    fetch: pagesOf(`${path}/deliveries`, () => ({ state })),
    row: item => [
      span(item.event_type, item.position ? [" ", positionLink(view, item.position)] : ""),
      badge(item.state, { delivered: "ok", dead: "error", pending: "warn" }[item.state]), count(item.attempts), timeNode(item.created_at),
      timeNode(item.next_attempt_at, true),
      span(item.last_status ?? "", " ", item.last_failure ? clipped(item.last_failure) : ""),
      inRow(
        actButton("Retry", "write", post(`deliveries/${nameOf(item.id)}/retry`), "The delivery is sent again.", soon, { class: "small" }),
        details(path, item)),
    ],
    empty: [p(state ? `No delivery is ${state}.` : "There are no deliveries. Send a test, or cause an event that the webhook subscribes to.")],
    clear: clearFilters(view, ["state"]),
  })
  const newest = loading(() => get(`${path}/deliveries`, { page_size: 100, count: "none" }), items => {
    const number = state => items.filter(item => item.state === state).length
    const dead = number("dead")
    return items.length ? p(`Of the newest ${items.length} deliveries, ${number("pending")} wait and ${dead} ${dead === 1 ? "is" : "are"} dead (${percent(dead / items.length)}).`) : null
  })
  const soon = () => setTimeout(() => {
    if (view.signal.aborted) return
    deliveries.reload()
    newest.reload()
  }, 800)
  const after = input({ inputmode: "numeric", pattern: "\\d+", required: true, value: "0" })
  const before = input({ inputmode: "numeric", pattern: "\\d*" })
  return {
    title: `${title(webhook)} · Webhook`, heading: [clipped(title(webhook))], list: deliveries,
    nodes: [
      facts([["State", status(webhook), webhook.status_reason ? [" ", clipped(webhook.status_reason)] : ""].flat(), ["Target", urlText(webhook.target_url)],
        ["Events", webhook.events.join(", ")], ["Version", webhook.version], ["Created", timeNode(webhook.created_at)], ["Id", idText(view.id)]]),
      tools(actButton("Send test", "write", post("test"), "A test was sent.", soon),
        webhook.status === "active" ? actButton("Deactivate", "admin", post("deactivate"), "The webhook was deactivated.", show)
          : actButton("Activate", "admin", post("activate"), "The target is verified again.", show),
        button(() => show({ restore: { scroll: scrollY } }), "Reload"),
        confirmButton("Delete", "admin", "Delete this webhook?", `The pending deliveries of ${title(webhook)} are dropped.`, () => call("DELETE", path),
          ["The webhook was deleted. ", eventLink(view, "webhook.deleted")], () => go(view.to("webhooks")), { class: "danger" })),
      h2("Deliveries"), newest,
      filters(view, [{ name: "state", label: "State", options: ["pending", "delivered", "dead"] }], () => show()),
      deliveries, durationChart(path),
      folded("Replay a range of the log", form([
        field("After position", after, "The first event sent is the next one."), field("Before position", before, "Empty: up to now.")],
      "Replay", async key => {
        const answer = await call("POST", `${path}/replay`, { headers: keyed(key), body: { after: Number(after.value), ...(before.value && { before: Number(before.value) }) } })
        say(`Events ${count(answer.json.after + 1)} to ${count(answer.json.through)} are sent again.`)
        soon()
      }, { needs: "write" })),
      folded("Replace the secret", secretForm(path)), folded("Check a signature", signatureForm(path)),
    ],
  }
}

function secretForm(path) {
  const secret = input({ required: true, spellcheck: "false" })
  const keep = input({ inputmode: "numeric", pattern: "\\d+", value: "86400", required: true })
  return form([field("New secret", secret), field("The old one also signs for (seconds)", keep)], "Replace", async key => {
    await call("POST", `${path}/rotate_secret`, { headers: keyed(key), body: { secret: secret.value, keep_for_seconds: Number(keep.value) } })
    secret.value = ""
    say("The secret was replaced.")
  }, { needs: "admin" })
}

/** How long the last thousand attempts took, read when it is opened. */
function durationChart(path) {
  const read = pagesOf(`${path}/deliveries`, () => ({ include: "attempts" }))
  const node = folded("Durations of attempts")
  node.addEventListener("toggle", () => node.append(loading(async () => {
    let [made, from] = [[], null]
    do {
      const { items, next } = await read(from, 100)
      made.push(...items.flatMap(item => item.attempts))
      from = next
    } while (from && made.length < 1000)
    return made.sort((one, other) => one.at < other.at ? -1 : 1).slice(-1000)
  }, made => made.length ? chart({ title: "Duration of attempts", format: duration, times: made.map(one => one.at),
    series: [{ name: "attempts", values: made.map(one => one.duration_ms / 1000) }] }) : p("There are no attempts."))), { once: true })
  return node
}

/** The attempts and the request of one delivery. */
function details(path, item) {
  const node = element("details", { on: { async toggle() {
    if (!node.open || node.childElementCount > 1) return
    await attempt(async () => {
      const { attempts, headers, body } = await get(`${path}/deliveries/${nameOf(item.id)}`)
      node.append(...attempts.map(made => p(timeNode(made.at), ` ${duration(made.duration_ms / 1000)} `, String(made.status ?? ""), " ",
        clipped(made.error ?? ""), made.response ? element("pre", { class: "raw", tabindex: "0" }, clipped(made.response)) : "")),
      facts(Object.entries(headers).map(([name, value]) => [name, clipped(value)])), jsonView(body))
    })
  } } }, element("summary", {}, "Details"))
  return node
}

/** Compares the signatures of a request that a receiver has got with those of the secret, which the server does not send. */
function signatureForm(path) {
  const area = attributes => element("textarea", { rows: "4", required: true, spellcheck: "false", ...attributes })
  const headers = area({ placeholder: "webhook-id: …" })
  const body = area({ placeholder: "{…}" })
  const result = element("p", { role: "status" })
  return form([field("Headers of the request, one a line", headers), field("Body, byte for byte", body), result,
    muted(link("/docs/webhook-guide#start-a-receiver", "Code that checks it"))], "Check", async () => {
    const named = Object.fromEntries(headers.value.split("\n").map(line => line.split(/:(.*)/s).map(part => part.trim()))
      .filter(([name, value]) => name && value).map(([name, value]) => [name.toLowerCase(), value]))
    const { json } = await call("POST", `${path}/check_signature`, { body: { headers: named, body: body.value } })
    result.replaceChildren(`layer-webhook-signature, of the body: ${json.layer}. webhook-signature, of the text below: ${json.standard}. ${json.reason ?? ""}`,
      element("code", { class: "raw" }, ["webhook-id", "webhook-timestamp"].map(name => `${named[name] ?? ""}.`).join("") + body.value))
  }, { needs: "write" })
}
