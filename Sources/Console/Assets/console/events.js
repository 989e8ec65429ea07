// One event of a log as a sentence with links, and its payload.

import { visible } from "./format.js"
import { pathTo } from "./router.js"
import { link } from "./ui.js"
import { count, element } from "../shared/dom.js"

/** A link to an event in the log. */
export const positionLink = (view, position) => link(`${view.to("log")}?position=${position}`, count(position))

/** A link to the events of a type in the log. */
export const eventLink = (view, types) => link(`${view.to("log")}?types=${types}`, "Event")

/** The line of the server without its time. */
export const sentenceText = event => event.text.replace(/^\S+Z /, "")

const IDS = /(conversation|message|webhook) ([0-9a-f]{8}-[0-9a-f-]{27})/g

/** The sentence with links to the objects that it names. */
export function sentence(app, event) {
  const text = visible(sentenceText(event))
  if (!app) return element("bdi", { dir: "auto" }, text)
  const parts = []
  let at = 0
  for (const match of text.matchAll(IDS)) {
    if (match[1] === "message") continue
    const start = match.index + match[1].length + 1
    parts.push(text.slice(at, start), link(pathTo(app, `${match[1]}s`, match[2]), match[2]))
    at = start + match[2].length
  }
  return element("bdi", { dir: "auto" }, ...parts, text.slice(at))
}

/** The types in a text such as `link.created,used session.ended`. */
export const eventTypes = text => text.split(/\s+/).flatMap(group => {
  const [, noun, verbs] = /(\w+)\.(.*)/.exec(group)
  return verbs.split(",").map(verb => `${noun}.${verb}`)
})

/** The types of events of an application. */
export const EVENT_TYPES = eventTypes(`application.created,renamed,suspended session_lifetime.set token.created,revoked provider.created,deleted
  provider_key.created,updated,deleted identity.told,patched,deleted following.changed blocks.changed badge.set
  user.suspended session.created,ended sessions.ended
  conversation.created,matched,merged,shown,announced,hidden,updated.participants,updated.metadata,deleted participant.erased
  message.sent,delivered,read,updated,deleted,hidden,erased,scheduled schedule.ended batch.accepted
  content.uploaded,owned,withdrawn contents.erased announcement.sent,received,deleted,erased notification.sent
  export.key_changed,schedule_changed,requested,started,completed,deleted,expired,erased record.imported
  webhook.created,updated,secret_rotated,deleted`)

/** The types that a pattern such as `message.*` names, separated by commas as the API takes them. */
export function typesOf(pattern, types) {
  if (!pattern) return null
  const words = pattern.split(",").map(word => word.trim()).filter(Boolean)
  const found = words.flatMap(word => word.endsWith("*")
    ? types.filter(type => type.startsWith(word.slice(0, -1))) : [word])
  return found.length ? found.join(",") : pattern
}
