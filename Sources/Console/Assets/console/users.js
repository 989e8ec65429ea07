// The users of an application, and one user with its tabs.

import { PATCH, call, get, pagesOf } from "./api.js"
import { eventLink } from "./events.js"
import { participantNames } from "./conversations.js"
import { CREATED, clearFilters, filters, replaceList } from "./filters.js"
import { nameOf, timeText } from "./format.js"
import { go, show } from "./router.js"
import { actButton, badge, clipped, command, confirmButton, curl, facts, h2, idText, inRow, jsonView, keyed, link, list, loading, p, refreshed, tabBar, timeNode, urlText } from "./ui.js"
import { count, element } from "../shared/dom.js"

const FILTERS = ["q", "suspended", "created_after", "created_before"]

/** The initials of a user: pictures of users are not loaded, because their addresses are of other servers. */
const initials = user => element("span", { class: "initials", "aria-hidden": "true" },
  [...(user.identity?.display_name || user.id)].slice(0, 1).join("").toUpperCase())

export async function usersPage(view) {
  if (view.id) return userPage(view)
  if (view.query.erasure) return erasurePage(view)
  const make = () => list({
    label: "Users", columns: ["Name", "User id", "Type", "State"],
    fetch: pagesOf(view.path("users"), () => Object.fromEntries(FILTERS.map(name => [name, view.query[name]]))),
    row: user => [
      inRow(initials(user), link(view.to("users", user.id), clipped(user.identity?.display_name || user.id))),
      idText(user.id), user.identity?.identity_type ?? "no identity", user.suspended ? badge("suspended", "error") : "",
    ],
    clear: clearFilters(view, FILTERS),
    empty: [p("This application has no users. A user exists as soon as a request names it:"),
      command(curl("POST", view.path("users", "ana", "identity"), '{"display_name":"Ana"}'))],
  })
  let shown = make()
  return {
    title: "Users", list: shown,
    nodes: [filters(view, [
      { name: "q", label: "Id or name", placeholder: "ana" },
      { name: "suspended", label: "Suspended", options: [["true", "yes"], ["false", "no"]] },
      ...CREATED,
    ], () => { shown = replaceList(view, shown, make()) }), shown],
  }
}

const TABS = [["profile", "Profile", profileTab], ["conversations", "Conversations", conversationsTab], ["sessions", "Sessions", sessionsTab],
  ["blocks", "Blocks", relationTab], ["following", "Following", relationTab]]

/** The erasure that the query names: its address does not name the user. */
async function erasurePage(view) {
  const state = element("div")
  let erasure
  const shown = list({
    label: "Erasure", columns: ["Table", "Erased", "Scanned", "Remaining"],
    async fetch() {
      erasure = await get(view.path("erasures", view.query.erasure))
      state.replaceChildren(facts([
        ["State", badge(erasure.state, { completed: "ok", failed: "error" }[erasure.state])], ["Now", idText(nameOf(erasure.erased_user))],
        erasure.progress ? ["Progress", `${erasure.progress.phase} ${erasure.progress.table ?? ""}`] : null,
        ["Requested", timeNode(erasure.requested_at)], ["Ended", timeNode(erasure.ended_at)], erasure.error ? ["Error", erasure.error] : null,
        ["Rows that name the user", erasure.remaining === null ? "not known" : count(erasure.remaining)], erasure.digest ? ["SHA-256 of them", idText(erasure.digest)] : null]))
      return erasure.counts
    },
    row: item => [item.table, count(item.erased), count(item.scanned), count(item.remaining)],
    empty: [p("The erasure begins within a second.")],
  })
  refreshed(view, shown, () => erasure?.state === "running", true)
  return { title: "Erasure", list: shown, nodes: [state, shown] }
}

async function userPage(view) {
  const tab = TABS.find(([name]) => name === (view.tab ?? "profile"))
  if (!tab) return { title: "Page not found", nodes: [p("A user has no such tab.")] }
  const user = await get(view.path("users", view.id))
  const made = await tab[2](view, user, tab[0])
  const name = user.identity?.display_name || user.id
  const change = suspended => key => call("PATCH", view.path("users", view.id), {
    type: PATCH, headers: keyed(key), body: [{ operation: "set", property: "suspended", value: suspended }] })
  const event = eventLink(view, "user.suspended")
  let erasure
  return {
    ...made, title: `${name} · ${tab[1]}`, heading: [clipped(name)],
    nodes: [
      facts([["User id", idText(user.id)], ["State", user.suspended ? badge("suspended", "error") : badge("active", "ok")],
        ["Type", user.identity?.identity_type ?? "no identity"],
        ["Log", link(`${view.to("log")}?user=${encodeURIComponent(user.id)}`, "Events")]]),
      tabBar("User", TABS, tab[0], name => view.to("users", user.id, name),
        user.suspended ? actButton("End the suspension", "admin", change(false), ["The user may log in again. ", event], show)
          : confirmButton("Suspend", "admin", "Suspend this user?", `All sessions of ${user.id} end, and the user cannot log in. Messages stay.`,
            change(true), ["The user was suspended. ", event], show, { class: "danger" }),
        confirmButton("Erase", "admin", "Erase this user?",
          `Identity, sessions, blocks and follows of ${user.id} are deleted, and the user's messages become tombstones without parts. This cannot be undone.`,
          async () => { erasure = (await call("DELETE", view.path("users", view.id), { query: { mode: "erase" } })).json }, "The erasure was started.",
          () => go(`${view.to("users")}?erasure=${nameOf(erasure.id)}`), { typed: user.id, class: "danger" })),
      made.nodes,
    ].flat(),
  }
}

async function profileTab(view, user) {
  const badges = loading(() => get(view.path("users", view.id, "badge")), value => facts([
    ["Unread messages", count(value.unread_message_count ?? 0)],
    ["Unread conversations", count(value.unread_conversation_count ?? 0)],
    ["External count", count(value.external_unread_count ?? 0)],
  ]))
  const identity = user.identity
  const rows = identity ? ["display_name", "first_name", "last_name", "email_address", "phone_number", "public_key"].filter(name => identity[name])
    .map(name => [name.replaceAll("_", " "), clipped(identity[name])]) : []
  return { ready: badges.ready, nodes: [
    h2("Identity"),
    identity ? facts([...rows, identity.avatar_url ? ["avatar (not loaded)", urlText(identity.avatar_url)] : null])
      : p("This user has no identity. It was named by a request."),
    identity && Object.keys(identity.metadata ?? {}).length ? [h2("Metadata"), jsonView(JSON.stringify(identity.metadata))] : null,
    h2("Badge"), badges,
  ].flat() }
}

async function conversationsTab(view) {
  const shown = list({
    label: "Conversations of this user", columns: ["Participants", "Topic", "Messages", "Unread", "Last message"],
    fetch: pagesOf(view.path("users", view.id, "conversations"), () => ({ sort_by: "last_message" })),
    row: item => [
      link(`${view.to("conversations", nameOf(item.id))}?as=${encodeURIComponent(view.id)}`, participantNames(item)),
      typeof item.metadata?.topic === "string" ? clipped(item.metadata.topic) : "", count(item.total_message_count ?? 0),
      count(item.unread_message_count ?? 0), timeNode(item.last_message?.sent_at ?? null, true),
    ],
    empty: [p("This user sees no conversation.")],
  })
  return { list: shown, nodes: [shown] }
}

async function sessionsTab(view) {
  const path = view.path("users", view.id, "sessions")
  const end = (label, target, title, effect, style) => confirmButton(label, "write", title, effect,
    () => call("DELETE", target), ["Ended. ", eventLink(view, "session.*")], () => shown.reload(), { verb: "End", class: style })
  const shown = list({
    label: "Sessions", columns: ["Begun", "Last used", "Ends", "Client", ""],
    fetch: () => get(path),
    row: item => [
      timeNode(item.created_at), timeNode(item.last_used_at, true), timeNode(item.expires_at), clipped(item.user_agent ?? ""),
      end("End", `${path}/${encodeURIComponent(nameOf(item.id))}`, "End this session?",
        `${view.id} has to log in again on the device of the session of ${timeText(item.created_at)}${item.user_agent ? `: ${item.user_agent}` : ""}.`, "small"),
    ],
    empty: [p("This user has no session.")],
  })
  return { list: shown, nodes: [shown, inRow(end("End all sessions", path, "End all sessions of this user?",
    `${view.id} has to log in again on every device.`, "danger"))] }
}

async function relationTab(view, user, kind) {
  const isBlocks = kind === "blocks"
  const shown = list({
    label: isBlocks ? "Blocked users" : "Followed users", columns: ["User", "User id"],
    fetch: pagesOf(view.path("users", view.id, kind)),
    row: item => {
      const id = typeof item === "string" ? nameOf(item) : item.user_id ?? nameOf(item.id)
      return [link(view.to("users", id), clipped(item.display_name || id)), idText(id)]
    },
    empty: [p(isBlocks ? "This user blocks no other user." : "This user follows no other user.")],
  })
  return { list: shown, nodes: [shown] }
}
