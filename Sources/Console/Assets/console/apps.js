// The applications of the server, with their counters and tokens.

import { call, get, inApp, isOperator, may } from "./api.js"
import { readTime } from "./format.js"
import { pathTo, show } from "./router.js"
import { actButton, badge, clipped, command, confirmButton, dialog, facts, field, folded, form, h2, idText, input, keyed, link, list, narrow, p, rowEnd, say, select, span, timeNode, tools } from "./ui.js"
import { bytes, count, element } from "../shared/dom.js"

/** All applications that this login may see. */
export async function readAllApps() {
  const all = []
  for (let page; !page || page.length === 100;) {
    page = await get("apps", { after: all.at(-1)?.id, limit: 100 })
    all.push(...page)
  }
  return all
}

export async function appsPage(view) {
  if (view.query.app) return appPage(view)
  const shown = list({
    label: "Applications", columns: ["Name", "State", "Users", "Conversations", "Messages", "Contents", "Created"],
    async fetch(cursor, size) {
      const items = await get("apps", { after: cursor, limit: size })
      return { items, next: items.length === size ? items.at(-1).id : null }
    },
    row: app => [
      span(link(`/console/apps?app=${encodeURIComponent(app.id)}`, clipped(app.name || "unnamed")), element("div", {}, idText(app.id))),
      app.suspended ? badge("suspended", "error") : badge("active", "ok"),
      link(pathTo(app.id, "users"), count(app.users)), link(pathTo(app.id, "conversations"), count(app.conversations)),
      count(app.messages), bytes(app.content_bytes), timeNode(app.created_at),
    ],
    empty: [p("There are no applications. Create the first one below.")],
  })
  const name = input({ required: true, maxlength: "200" })
  return {
    title: "Applications", list: shown,
    nodes: [shown, isOperator() ? narrow(h2("Create an application"),
      form([field("Name", name)], "Create", async key => {
        await call("POST", "apps", { headers: keyed(key), body: { name: name.value } })
        say("The application was created.")
        show()
      }, { needs: "admin" })) : null],
  }
}

async function appPage(view) {
  const id = view.query.app
  const app = (await readAllApps()).find(item => item.id === id)
  if (!app) return { title: "Page not found", nodes: [p("There is no such application.")] }
  const change = body => key => call("PATCH", inApp(id), { body, headers: keyed(key) })
  const name = input({ value: app.name ?? "", required: true, maxlength: "200" })
  return {
    title: `${app.name || id} · Application`, heading: [clipped(app.name || id)],
    nodes: [
      facts([["Id", idText(id)], ["State", app.suspended ? badge("suspended", "error") : badge("active", "ok")], ["Created", timeNode(app.created_at)],
        ["Users", count(app.users)], ["Conversations", count(app.conversations)], ["Messages", count(app.messages)], ["Contents", bytes(app.content_bytes)]]),
      isOperator() ? tools(
        app.suspended ? actButton("End the suspension", "admin", change({ suspended: false }), "The suspension has ended.", show)
          : confirmButton("Suspend", "admin", "Suspend this application?", `All tokens and sessions of ${app.name || id} stop working until the suspension ends.`,
            change({ suspended: true }), "The application was suspended.", show, { typed: id, class: "danger" })) : null,
      h2("Tokens"), may("admin") ? tokens(view, id) : p("Tokens need role admin."),
      isOperator() ? folded("Rename", form([field("Name", name)], "Rename", async key => {
        await change({ name: name.value })(key)
        say("The application was renamed.")
        show()
      }, { needs: "admin" })) : null,
    ],
  }
}

function tokens(view, id) {
  const path = inApp(id, "tokens")
  const shown = list({
    label: "Tokens", columns: ["Name", "Scope", "Created", "Expires", ""],
    fetch: () => get(path),
    row: token => [
      span(clipped(token.name ?? ""), " ", idText(token.id)), token.scope, timeNode(token.created_at),
      token.revoked_at ? badge("revoked", "error") : token.expires_at ? timeNode(token.expires_at, true) : "never",
      token.revoked_at ? "" : confirmButton("Revoke", "admin", "Revoke this token?", `Requests with token ${token.name ?? ""} (${token.id}) are refused from now on.`,
        () => call("DELETE", `${path}/${token.id}`), "The token was revoked.", () => shown.reload()),
    ],
    empty: [p("This application has no tokens.")],
  })
  const name = input({ maxlength: "200" })
  const scope = select(["read", "write", "admin"], "write")
  const expires = input({ placeholder: "2027-01-01" })
  expires.addEventListener("input", () => expires.setCustomValidity(!expires.value || readTime(expires.value) ? "" : "A time such as 2027-01-01"))
  return element("div", {}, shown, narrow(element("h3", {}, "Create a token"), form([
    field("Name", name), field("Scope", scope), field("Expires", expires, "Empty: never.")], "Create", async key => {
    const { json } = await call("POST", path, { headers: keyed(key), body: {
      ...(name.value && { name: name.value }), scope: scope.value, ...(expires.value && { expires_at: readTime(expires.value) }) } })
    shown.reload()
    if (!json.token) return say("The token exists already, and was shown once. Revoke it, and create another.")
    await dialog("The new token", close => [
      p("It is shown only now. Store it where your backend reads it."), command(json.token),
      rowEnd(element("button", { type: "button", class: "primary", on: { click: () => close() } }, "I have stored it")),
    ], { closes: false })
  }, { needs: "admin" })))
}
