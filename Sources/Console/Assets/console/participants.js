// Current and former participants of a conversation.

import { PATCH, call, pagesOf } from "./api.js"
import { show } from "./router.js"
import { clipped, confirmButton, field, form, h2, idText, inRow, input, keyed, link, list, narrow, p, say } from "./ui.js"

export async function participantsTab(view) {
  const path = view.path("conversations", view.id)
  const change = (operation, user, key) => call("PATCH", path, {
    type: PATCH, headers: keyed(key),
    body: [{ operation, property: "participants", id: `layer:///identities/${encodeURIComponent(user)}` }],
  })
  const table = state => list({
    label: state === "former" ? "Former participants" : "Participants",
    columns: ["Name", "User id", ""],
    fetch: pagesOf(`${path}/participants`, () => ({ state: state === "former" ? state : null })),
    row: item => [
      link(view.to("users", item.user_id), clipped(item.display_name || item.user_id)), idText(item.user_id),
      inRow(link(`${view.to("conversations", view.id)}?as=${encodeURIComponent(item.user_id)}`, "Timeline as this user"),
        state === "former" ? null : confirmButton("Remove", "write", "Remove this participant?",
          `${item.user_id} keeps the messages up to now, and receives no later ones. The conversation is then no longer distinct.`,
          key => change("remove", item.user_id, key), "The participant was removed.", show)),
    ],
    empty: [p(state === "former" ? "No participant has left." : "There are no participants.")],
  })
  const name = input({ required: true, spellcheck: "false" })
  const current = table("current")
  return {
    list: current,
    nodes: [
      narrow(form([field("User id", name)], "Add", async key => {
        await change("add", name.value, key)
        say("The participant was added.")
        show()
      }, { needs: "write" })),
      h2("Current"), current, h2("Former"), table("former"),
    ],
  }
}
