// Opens what an id, a URL, an alias, a position or a user id names.

import { call, inApp, withQuery } from "./api.js"
import { nameOf } from "./format.js"
import { go, pathTo } from "./router.js"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const NAMED = /\/(conversations|messages|identities|users|webhooks)\/([^/?#]+)/g
const APP = /\/(?:apps(?:\/\w+)?|a)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//i

/** Goes to the page of what the text names; a text that is no id searches users. */
export async function search(text, current) {
  const app = APP.exec(text)?.[1].toLowerCase() ?? current
  if (!app) return go("/console/apps")
  const named = [...text.matchAll(NAMED)].pop()
  if (named) {
    const id = nameOf(named[2])
    if (named[1] === "messages") return openMessage(id, app)
    const list = named[1] === "identities" ? "users" : named[1]
    return go(pathTo(app, list, id))
  }
  if (/^\d+$/.test(text)) {
    return go(await exists(inApp(app, "users", text)) ? pathTo(app, "users", text) : withQuery(pathTo(app, "log"), { position: text }))
  }
  const users = withQuery(pathTo(app, "users"), { q: text })
  if (!UUID.test(text)) return go(users)
  const id = text.toLowerCase()
  if (await exists(inApp(app, "conversations", id))) return go(pathTo(app, "conversations", id))
  if (await exists(inApp(app, "webhooks", id))) return go(pathTo(app, "webhooks", id))
  try {
    return await openMessage(id, app)
  } catch (failure) {
    if (failure.status !== 404) throw failure
    // A user may have such an id as well.
    return go(users)
  }
}

async function exists(path) {
  try {
    await call("GET", path)
    return true
  } catch (failure) {
    // What has been deleted has a page, too: it says so.
    if (failure.status === 404 || failure.status === 410) return failure.status === 410
    throw failure
  }
}

async function openMessage(id, app) {
  const { json } = await call("GET", inApp(app, "messages", id))
  return go(withQuery(pathTo(app, "conversations", nameOf(json.conversation.id)), { message: id }))
}
