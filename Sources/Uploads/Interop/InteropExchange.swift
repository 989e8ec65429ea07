internal import HTTP
internal import Locking

/// One data request of dialect C while it is answered.
struct InteropExchange: Sendable {
    let words: InteropWords
    /// The upload's own URL.
    let url: String
    /// Whether `104` may be sent.
    let interim: Bool

    /// Tells the client on its way (§7.5): once where to resume a creation, and then how far it has
    /// come, every so many durable bytes and at most once a second.
    func watch(
        isCreation: Bool, _ body: any RequestBody, _ engine: UploadEngine
    ) -> Append.Watch? {
        guard interim else { return nil }
        let told = Locked((offset: Int64(0), at: engine.clock.now()))
        let (words, url, clock) = (words, url, engine.clock)
        let spacing = engine.settings.progress104Bytes
        return Append.Watch(
            began: { record in
                told.withLock { $0.offset = record.offset }
                guard isCreation else { return }
                body.inform(words.announcement(record, at: url, now: clock.now()))
            },
            committed: { offset in
                guard words.version.tellsProgress else { return }
                let now = clock.now()
                let isDue = told.withLock { told in
                    guard offset - told.offset >= spacing, now - told.at >= 1000 else {
                        return false
                    }
                    told = (offset, now)
                    return true
                }
                if isDue { body.inform(words.progress(offset)) }
            })
    }
}
