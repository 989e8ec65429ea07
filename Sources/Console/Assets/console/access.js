// The sessions of the console, and how operators are managed.

import { call, get, session, writeButton } from "./api.js"
import { badge, clipped, command, confirmed, h2, list, p, say, span, timeNode } from "./ui.js"

export async function accessPage(view) {
  const shown = list({
    label: "Sessions", columns: ["Operator", "Role", "Begun", "Last used", "Address", "Browser", ""],
    fetch: async () => ({ items: await get("sessions"), next: null }),
    row: item => [
      span(clipped(item.name ?? "token"), item.id === session?.id ? [" ", badge("this session", "ok")] : ""), item.role,
      timeNode(item.created_at), timeNode(item.last_used_at, true), clipped(item.address ?? ""), clipped(item.agent ?? ""),
      writeButton("End", "admin", () =>
        confirmed("End this session?", `${item.name ?? "The token"} has to log in again.`, "End", async () => {
          await call("DELETE", `sessions/${encodeURIComponent(item.id)}`)
          say("The session was ended.")
          shown.reload()
        }), { class: "small" }),
    ],
    empty: [p("There are no sessions.")],
  })
  return {
    title: "Access", list: shown,
    nodes: [h2("Sessions"), shown, h2("Operators"),
      p("Operators are managed on the machine of the server, also while it runs:"),
      command("parley console password --name ana --role read\nparley console list\nparley console remove ana\nparley console link")],
  }
}
