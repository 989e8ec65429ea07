// The sessions and the operators of the console.

import { call, get, session } from "./api.js"
import { timeText } from "./format.js"
import { badge, clipped, command, confirmButton, h2, list, p, span, timeNode } from "./ui.js"

export async function accessPage(view) {
  const shown = list({
    label: "Sessions", columns: ["Operator", "Role", "Begun", "Last used", "Address", "Browser", ""],
    fetch: () => get("sessions"),
    row: item => [
      span(clipped(item.name ?? "token"), item.id === session?.id ? [" ", badge("this session", "ok")] : ""), item.role,
      timeNode(item.created_at), timeNode(item.last_used_at, true), item.address ?? "", clipped(item.agent ?? ""),
      confirmButton("End", "admin", "End this session?", `${item.name ?? "The token"} has to log in again in the browser at ${item.address ?? "an unknown address"}, which began at ${timeText(item.created_at)}.`,
        () => call("DELETE", `sessions/${encodeURIComponent(item.id)}`), "The session was ended.", () => shown.reload()),
    ],
    empty: [p("There are no sessions.")],
  })
  const operators = list({
    label: "Operators", columns: ["Operator", "Role", "Password", "Created"],
    fetch: () => get("operators"),
    row: item => [clipped(item.name), item.role, item.has_password ? "set" : badge("none", "warn"), timeNode(item.created_at)],
    empty: [p("There are no operators.")],
  })
  return {
    title: "Access", list: shown,
    nodes: [h2("Sessions"), shown, h2("Operators"), operators,
      p("Operators are managed on the machine of the server, also while it runs:"),
      command("parley console password --name ana --role read\nparley console list\nparley console remove ana\nparley console link")],
  }
}
