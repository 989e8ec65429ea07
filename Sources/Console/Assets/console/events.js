// One event of a log as a sentence with links, and its payload.

import { visible } from "./format.js"
import { pathTo } from "./router.js"
import { link } from "./ui.js"
import { element } from "../shared/dom.js"

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

/** The types of events of an application. */
export const EVENT_TYPES = `application.created application.renamed application.suspended session_lifetime.set token.created token.revoked
  provider.created provider.deleted provider_key.created provider_key.updated provider_key.deleted identity.told
  identity.patched identity.deleted following.changed blocks.changed badge.set user.suspended session.created session.ended
  sessions.ended conversation.created conversation.matched conversation.merged conversation.shown conversation.announced
  conversation.hidden conversation.updated.participants conversation.updated.metadata conversation.deleted message.sent
  message.delivered message.read message.updated message.deleted message.hidden message.scheduled schedule.ended
  batch.accepted content.uploaded content.owned content.withdrawn contents.erased announcement.sent announcement.received
  announcement.deleted notification.sent export.key_changed export.schedule_changed export.requested export.started
  export.completed export.deleted export.expired export.erased record.imported webhook.created webhook.updated
  webhook.secret_rotated webhook.deleted`.split(/\s+/)

/** The types that a pattern such as `message.*` names, separated by commas as the API takes them. */
export function typesOf(pattern, types) {
  if (!pattern) return null
  const words = pattern.split(",").map(word => word.trim()).filter(Boolean)
  const found = words.flatMap(word => word.endsWith("*")
    ? types.filter(type => type.startsWith(word.slice(0, -1))) : [word])
  return found.length ? found.join(",") : pattern
}
