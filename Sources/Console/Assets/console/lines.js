// A list of many lines of one height, of which only the visible ones have elements; they are recycled.

import { element } from "../shared/dom.js"

const MOST_ROWS = 60

/**
 * `items` is the array of all lines; `fill(row, item)` writes one into an element that `make()` made. `onScroll(atEnd, atStart)`
 * is called when the operator scrolls.
 */
export class Lines {
  constructor({ label, make, fill, open, onScroll }) {
    Object.assign(this, { make, fill, open, onScroll, items: [], rows: [], height: 28, base: 0, shownEnd: 0, selected: -1 })
    this.space = element("div", { class: "space" })
    this.node = element("div", { class: "lines", role: "feed", "aria-label": label, tabindex: "-1", on: {
      scroll: () => this.scrolled(), keydown: event => this.key(event),
      click: event => {
        const row = event.target.closest(".line")
        if (row && getSelection().isCollapsed) this.select(row.index, true)
      },
    } }, this.space)
    this.observer = new ResizeObserver(() => requestAnimationFrame(() => this.layout()))
    this.observer.observe(this.node)
  }

  /** Reads the height of a line from the style sheet: two rows of text on a phone. */
  layout() {
    const height = parseFloat(getComputedStyle(this.node).getPropertyValue("--line-height")) || 28
    const atEnd = this.isAtEnd
    if (height !== this.height) {
      this.height = height
      for (const row of this.rows) row.remove()
      this.rows = []
    }
    this.draw(true)
    if (atEnd) this.toEnd()
  }

  get isAtEnd() { return this.node.scrollTop + this.node.clientHeight >= this.items.length * this.height - this.height }

  scrolled() {
    this.draw()
    // Scrolling by script is no choice of the operator.
    if (Math.abs(this.node.scrollTop - this.expected) < 2) return
    this.expected = -1
    this.onScroll(this.isAtEnd, this.node.scrollTop < this.height * 4)
  }

  scrollTo(top) {
    const most = Math.max(0, this.items.length * this.height - this.node.clientHeight)
    this.expected = Math.max(0, Math.min(top, most))
    this.node.scrollTop = this.expected
  }

  toEnd() { this.scrollTo(Infinity); this.draw() }

  /** Replaces all lines. */
  set(items) {
    this.items = items
    this.selected = -1
    this.draw(true)
  }

  /** Adds lines at the end, and drops the first ones above the limit. */
  append(items, limit) {
    this.items.push(...items)
    const extra = Math.max(0, this.items.length - limit)
    if (extra) {
      this.items.splice(0, extra)
      this.selected = this.selected < extra ? -1 : this.selected - extra
    }
    this.draw(extra > 0)
  }

  /** Adds lines before the first one; the visible ones keep their place. */
  prepend(items) {
    this.items.unshift(...items)
    if (this.selected >= 0) this.selected += items.length
    const top = this.node.scrollTop
    this.space.style.setProperty("height", `${this.items.length * this.height}px`)
    this.scrollTo(top + items.length * this.height)
    this.draw(true)
  }

  draw(all = false) {
    const { height, items } = this
    this.space.style.setProperty("height", `${items.length * height}px`)
    const visible = Math.min(MOST_ROWS, Math.ceil(this.node.clientHeight / height) + 6, items.length)
    const first = Math.max(0, Math.min(items.length - visible, Math.floor(this.node.scrollTop / height) - 3))
    while (this.rows.length < visible) {
      const row = this.make()
      row.className = "line"
      row.index = -1
      row.setAttribute("role", "article")
      this.rows.push(row)
      this.space.append(row)
    }
    while (this.rows.length > visible) this.rows.pop().remove()
    // A line stays in its element while it is visible, so that a selection survives scrolling.
    const wanted = new Set()
    for (let index = first; index < first + visible; index++) wanted.add(index)
    const free = []
    for (const row of this.rows) {
      if (!all && row.item === items[row.index] && wanted.has(row.index)) wanted.delete(row.index)
      else free.push(row)
    }
    for (const index of wanted) {
      const row = free.pop()
      const isSame = row.item === items[index]
      row.index = index
      row.item = items[index]
      row.style.setProperty("transform", `translateY(${index * height}px)`)
      row.setAttribute("aria-posinset", index + 1)
      if (!isSame) this.fill(row, items[index])
    }
    for (const row of this.rows) {
      row.setAttribute("aria-setsize", items.length)
      row.tabIndex = row.index === Math.max(this.selected, first) ? 0 : -1
      row.classList.toggle("selected", row.index === this.selected)
    }
  }

  /** Selects a line, scrolls to it, and opens it if asked for. */
  select(index, opens = false) {
    if (index < 0 || index >= this.items.length) return
    this.selected = index
    const top = index * this.height
    const view = this.node.clientHeight
    if (top < this.node.scrollTop || top + this.height > this.node.scrollTop + view) this.scrollTo(top - view / 2)
    this.draw()
    this.rows.find(row => row.index === index)?.focus({ preventScroll: true })
    if (opens) this.open(this.items[index])
  }

  key(event) {
    const at = event.target.closest?.(".line")?.index ?? this.selected
    const wanted = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.items.length - 1, PageDown: at + 20, PageUp: at - 20 }[event.key]
    if (event.key === "Enter") this.select(at, true)
    if (wanted === undefined) return
    event.preventDefault()
    this.onScroll(false, wanted < 4)
    this.select(Math.max(0, Math.min(wanted, this.items.length - 1)))
  }

  step(by) {
    this.onScroll(false, false)
    this.select(Math.max(0, this.selected < 0 ? this.items.length - 1 : this.selected + by))
  }

  end() { this.observer.disconnect() }
}
