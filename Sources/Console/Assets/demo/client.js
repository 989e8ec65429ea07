// Requests of the Client API for one user.

const MEDIA_TYPE = "application/vnd.layer+json; version=3.0"

/** An answer that is not a success. */
export class Failure extends Error {
  constructor(message, { status = 0, id = null, data = null, isTransient = false, retryAfter = 0 } = {}) {
    super(message)
    Object.assign(this, { status, id, data, isTransient, retryAfter })
  }
}

/** `/conversations/…` for `layer:///conversations/…`. */
export const pathOf = id => id.replace("layer://", "")

/**
 * Sends a request to this server and returns its JSON, or throws a `Failure`.
 *
 * A failure is transient if the same request may succeed later: no answer, an overloaded server, or an answer that is
 * not of the server at all, such as the page of a proxy.
 */
export async function send(method, path, { token, body, headers = {} } = {}) {
  let answer
  try {
    answer = await fetch(path, {
      method,
      headers: {
        Accept: MEDIA_TYPE,
        ...(token && { Authorization: `Layer session-token="${token}"` }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  } catch {
    throw new Failure("The server does not answer.", { isTransient: true })
  }
  const text = await answer.text().catch(() => "")
  let json = null
  try { json = text ? JSON.parse(text) : null } catch { /* not an answer of this server */ }
  if (answer.ok) return json
  const isTransient = [408, 425, 429].includes(answer.status) || answer.status >= 500 || !json?.id
    || json.id === "request_in_progress"
  throw new Failure(json?.message ?? `The server answered ${answer.status}.`, {
    status: answer.status, id: json?.id, data: json?.data, isTransient,
    retryAfter: Number(answer.headers.get("Retry-After")) || 0,
  })
}

/** The session of a user; without a token the user is not logged in. */
export class Session {
  constructor(user, app) {
    Object.assign(this, { user, app, token: null, identity: `layer:///identities/${encodeURIComponent(user)}` })
  }

  /** Logs the user in; needs a server with `api.dev_login`. */
  async login() {
    const body = { user_id: this.user, display_name: this.user, ...(this.app && { app_id: this.app }) }
    const answer = await send("POST", "/dev/login", { body })
    this.app = answer.app_id
    this.token = answer.session_token
  }

  send(method, path, options = {}) {
    return send(method, path, { token: this.token, ...options })
  }

  /** The address of the feed: `EventSource` cannot set headers, so the token is in the query. */
  feedURL(cursor) {
    const query = new URLSearchParams({ session_token: this.token, history: "50" })
    if (cursor) query.set("after", cursor)
    return `/events?${query}`
  }
}

/** A delay between 0 and 1 s, doubled with each attempt up to 30 s, so that clients do not all return at once. */
export function delay(attempt, retryAfter = 0) {
  const limit = Math.min(30_000, 1000 * 2 ** attempt)
  return new Promise(resolve => setTimeout(resolve, Math.max(retryAfter * 1000, Math.random() * limit)))
}
