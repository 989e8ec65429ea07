// Adds to the documentation what needs a script: buttons that copy examples, and results while a search is typed.

import { copyButton, element } from "../shared/dom.js"

for (const pre of document.querySelectorAll("pre.code")) {
  const code = pre.querySelector("code")
  pre.prepend(copyButton(code.textContent, code, "copy"))
}

const contents = document.querySelector(".contents")
if (contents && matchMedia("(min-width: 1240px)").matches) contents.open = true

const input = document.querySelector(".bar input")
const list = element("ul", { class: "results", "aria-live": "polite" })
list.addEventListener("click", () => { input.value = ""; show(document.querySelector("main"), false) })
let wanted = 0

input.addEventListener("input", async () => {
  const number = ++wanted
  const main = document.querySelector("main")
  const query = input.value.trim()
  if (!query) return show(main, false)
  await new Promise(resolve => setTimeout(resolve, 120))
  if (number !== wanted) return
  let results = null
  try {
    const answer = await fetch(`/docs/search?q=${encodeURIComponent(query)}`, { headers: { Accept: "application/json" } })
    if (answer.ok) results = (await answer.json()).results
  } catch { /* the server does not answer */ }
  if (number !== wanted) return
  if (!results) list.replaceChildren(element("li", {}, "The search has failed. Press Enter to search again."))
  else showResults(results, query)
  show(main, true)
})

function showResults(results, query) {
  list.replaceChildren(...results.map(({ path, title, section, excerpt }) => element("li", {},
    element("a", { href: path }, section ? `${title} › ${section}` : title), element("p", {}, excerpt))))
  if (!results.length) list.append(element("li", {}, `No section has all words of “${query}”.`))
}

// The results stand in place of the article; an empty field shows it again.
function show(main, isSearch) {
  for (const child of main.children) child.hidden = isSearch && child !== list
  if (isSearch) main.prepend(list)
  else list.remove()
}
