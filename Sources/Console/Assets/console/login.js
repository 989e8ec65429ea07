// The login page, and the dialog over a page whose session has ended.

import { Failure, call, session, setSession } from "./api.js"
import { dialog, field, folded, form, input, link, muted, narrow, p } from "./ui.js"
import { go } from "./router.js"
import { element } from "../shared/dom.js"

async function logIn(body) {
  const sentAt = Date.now()
  const answer = await call("POST", "session", { body, quiet: true })
  setSession(answer.json, sentAt)
}

/** What the operator sees above a failure to log in. */
function explained(failure) {
  if (failure.id === "insecure_transport") {
    return new Failure(`A login needs https. On your computer run ssh -L 8080:127.0.0.1:${location.port || 80} ${location.hostname}, then open 127.0.0.1:8080/console.`, failure)
  }
  if (failure.status === 429 && failure.retryAfter) {
    return new Failure(`${failure.message} Try again in ${failure.retryAfter} s.`, failure)
  }
  return failure
}

function loginForm(done) {
  const submit = body => async () => {
    try { await logIn(body()) } catch (failure) { throw explained(failure) }
    done()
  }
  const name = input({ name: "name", autocomplete: "username", required: true, spellcheck: "false", autocapitalize: "none" })
  const password = input({ name: "password", type: "password", autocomplete: "current-password", required: true })
  const token = input({ name: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false" })
  const byPassword = form([field("Name", name), field("Password", password)], "Log in",
    submit(() => ({ name: name.value, password: password.value })))
  const byToken = form([field("Token of an application", token, "It opens the pages of its application.")], "Log in with a token",
    submit(() => ({ token: token.value.trim() })))
  return [byPassword, folded("Use an application's token", byToken)]
}

/** The page `/console/login`; a one-time link has its token in the fragment, which no log or proxy sees. */
export async function loginPage(view) {
  const once = new URLSearchParams(location.hash.slice(1)).get("once")
  const done = () => go(view.query.to?.startsWith("/console") ? view.query.to : "/console", { replace: true })
  let problem = null
  if (once) {
    const forget = () => history.replaceState(history.state, "", location.pathname + location.search)
    try {
      await logIn({ once })
      forget()
      done()
      return { title: "Log in", nodes: [] }
    } catch (failure) {
      if (failure.status === undefined) throw failure
      const isUsed = failure.status === 401
      if (isUsed) forget()
      problem = element("p", { class: "problem", role: "alert" }, isUsed
        ? ["This link was used or has expired. Print a new one with ", element("code", {}, "parley console link"), "."]
        : [explained(failure).message, " Then reload this page."])
    }
  }
  return {
    title: "Log in", isNarrow: true,
    nodes: [narrow(problem, ...loginForm(done),
      muted("The first start of the server prints a link that logs in. ",
        element("code", {}, "parley console link"), " prints another one; ",
        element("code", {}, "parley console password"), " sets a password."))],
    shown: () => document.querySelector("main input")?.focus(),
  }
}

let asking = null

/** Asks for a new login in a dialog; what stands in the page stays. */
export function askForLogin() {
  if (!asking) {
    asking = dialog("Your session has ended", close => [
      p("Log in to continue. What you have typed stays."), ...loginForm(() => close(true)),
    ], { closes: false }).then(() => { asking = null })
  }
  return asking
}

/** Ends the session, and shows the login page. */
export async function logOut() {
  if (session) await call("DELETE", "session", { quiet: true }).catch(failure => {
    if (failure.status !== 401) throw failure
  })
  setSession(null)
  go("/console/login")
}
