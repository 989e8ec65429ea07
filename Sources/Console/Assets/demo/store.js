// What a device stores: the objects of its user, the position in the feed, and what is still to be sent.

/** Waits for a request of IndexedDB. */
const result = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/**
 * The database of one user. Everything is also in memory, where the page reads it; memory changes only after a
 * transaction is complete.
 */
export class Store {
  /** The objects of the feed by id: `{id, type, data, generation}`. */
  objects = new Map()
  /** What is to be sent, in order. */
  outbox = []
  meta = { cursor: null, generation: 0, token: null }

  static async open(name) {
    const store = new Store()
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => {
      request.result.createObjectStore("objects", { keyPath: "id" })
      request.result.createObjectStore("outbox", { keyPath: "seq", autoIncrement: true })
      request.result.createObjectStore("meta")
    }
    store.database = await result(request)
    const transaction = store.database.transaction(["objects", "outbox", "meta"])
    const [objects, outbox, meta] = await Promise.all([
      result(transaction.objectStore("objects").getAll()), result(transaction.objectStore("outbox").getAll()),
      result(transaction.objectStore("meta").get("meta"))])
    for (const object of objects) store.objects.set(object.id, object)
    store.outbox = outbox
    if (meta) store.meta = meta
    return store
  }

  /** Deletes a database that cannot be used. */
  static remove(name) { return result(indexedDB.deleteDatabase(name)) }

  close() { this.database.close() }

  /** The objects of a type. */
  all(type) { return [...this.objects.values()].filter(object => object.type === type).map(object => object.data) }

  /** Runs changes in one transaction; resolves when they are stored. */
  change(names, work) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(names, "readwrite")
      transaction.oncomplete = () => resolve()
      transaction.onabort = transaction.onerror = () => reject(transaction.error)
      work(...names.map(name => transaction.objectStore(name)))
    })
  }

  /**
   * Applies events of the feed together with the cursor behind them, so that the database always has the state at some
   * position. After a `reset` every object is named again; at `ready` those that were not named are gone.
   */
  async apply(events, cursor) {
    const changed = new Map()
    let { generation, isResetting = false } = this.meta
    for (const { kind, item } of events) {
      if (kind === "reset") { generation += 1; isResetting = true }
      if (kind === "item") changed.set(item.id, item.data && { ...item, generation })
      if (kind === "ready" && isResetting) {
        for (const { id, generation: seen } of this.objects.values()) {
          if (seen < generation && !changed.get(id)) changed.set(id, null)
        }
        isResetting = false
      }
    }
    const meta = { ...this.meta, cursor: cursor || this.meta.cursor, generation, isResetting }
    await this.change(["objects", "meta"], (objects, metas) => {
      for (const [id, object] of changed) object ? objects.put(object) : objects.delete(id)
      metas.put(meta, "meta")
    })
    for (const [id, object] of changed) object ? this.objects.set(id, object) : this.objects.delete(id)
    this.meta = meta
  }

  async setToken(token) {
    const meta = { ...this.meta, token }
    await this.change(["meta"], metas => metas.put(meta, "meta"))
    this.meta = meta
  }

  async enqueue(row) {
    let seq
    await this.change(["outbox"], outbox => { outbox.add(row).onsuccess = event => { seq = event.target.result } })
    const added = { ...row, seq }
    this.outbox.push(added)
    return added
  }

  async update(row, members) {
    const changed = { ...row, ...members }
    await this.change(["outbox"], outbox => outbox.put(changed))
    return Object.assign(row, members)
  }

  async moveToEnd(row) {
    const { seq, ...rest } = row
    await this.change(["outbox"], outbox => {
      outbox.delete(seq)
      outbox.add(rest).onsuccess = event => { row.seq = event.target.result }
    })
    this.outbox = [...this.outbox.filter(other => other !== row), row]
  }

  /** Removes a row and stores the object that the server made of it. */
  async settle(row, object = null) {
    await this.change(["outbox", "objects"], (outbox, objects) => {
      outbox.delete(row.seq)
      if (object) objects.put(object)
    })
    this.outbox = this.outbox.filter(other => other !== row)
    if (object) this.objects.set(object.id, object)
  }
}

/** Whether a set of positions, such as `1-498,500`, contains a position. */
export function contains(set, position) {
  return (set ?? "").split(",").some(range => {
    const [first, last = first] = range.split("-")
    return range && Number(first) <= position && position <= Number(last)
  })
}
