// What operators did and what happened to their sessions: the log component on the events of the server.

import { eventTypes } from "./events.js"
import { eventLog } from "./log.js"

/** The types of events of the server. */
export const TYPES = eventTypes(`operator.logged_in,login_failed,logged_out,password_set,removed link.created,used session.ended
  content.viewed settings.viewed application.created,renamed,suspended,resumed token.created,revoked upload.cancelled
  job.started,finished,failed,deleted`)

export const auditPage = view => eventLog(view, {
  title: "Audit", path: "events", isLive: false, app: null, types: TYPES,
  placeholder: "operator.*",
  empty: "The audit log is empty.",
})
