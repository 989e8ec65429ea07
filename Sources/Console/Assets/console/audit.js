// What operators did and what happened to their sessions: the log component on the events of the server.

import { eventLog } from "./log.js"

const TYPES = ["operator.logged_in", "operator.login_failed", "operator.logged_out", "operator.password_set", "operator.removed",
  "link.created", "link.used", "session.ended", "content.viewed", "settings.viewed", "application.created", "application.renamed",
  "application.suspended", "application.resumed", "token.created", "token.revoked",
  "upload.cancelled"]

export const auditPage = view => eventLog(view, {
  title: "Audit", path: "events", isLive: false, app: null, types: TYPES,
  placeholder: "operator.*",
  empty: "The audit log is empty.",
})
