internal import Messaging

/// The elements of a query, now and after each change (K60): at most one set per 16 ms, the newest for a slow reader.
///
/// The sequence ends when the client is closed or the task is cancelled. It throws what ``ParleyClient/fetch(_:)``
/// throws, and ends.
struct QueryResults<Found: Queryable>: AsyncSequence, Sendable {
    let query: Query<Found>
    let window: Window
    /// The properties whose changes count; `nil` for all.
    let properties: Set<String>?
    /// What the reader shows before the first set.
    let shown: ResultSet<Found>
    let store: Store
    let activity: OutboxActivity
    let loadMissing: @Sendable (Conversation.ID, IntervalSet) -> Void

    func makeAsyncIterator() -> Iterator { Iterator(self, store.commits.subscribe()) }

    struct Iterator: AsyncIteratorProtocol {
        private let source: QueryResults
        /// Commits since the store was last read; read later than they were subscribed to, so none is missed.
        private let commits: Mailbox<Store.Commit>
        private var shown: ResultSet<Found>
        private var snapshot: QuerySnapshot<Found>?
        /// Until when the store is not read again: 16 ms, or as long as the last read has taken, so that a slow query
        /// takes at most half the time of a reader.
        private var pauseEnd = ContinuousClock.now
        private var hasEnded = false

        init(_ source: QueryResults, _ commits: Mailbox<Store.Commit>) {
            self.source = source
            self.commits = commits
            shown = source.shown
        }

        mutating func next() async throws(ParleyError) -> ResultSet<Found>? {
            try await next(isolation: nil)
        }

        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ParleyError) -> ResultSet<Found>? {
            while !hasEnded {
                guard await mayHaveChanged(isolation: actor) else {
                    hasEnded = true
                    return nil
                }
                do throws(ParleyError) {
                    if let set = try await read(isolation: actor) { return set }
                } catch {
                    hasEnded = true
                    throw error
                }
            }
            return nil
        }

        /// Waits for a commit that concerns the query.
        ///
        /// - Returns: `false` at the end of the sequence.
        private func mayHaveChanged(isolation actor: isolated (any Actor)?) async -> Bool {
            guard let snapshot else { return !Task.isCancelled }
            while let commit = await commits.next() {
                guard source.concerns(commit, snapshot.conversation) else { continue }
                // A cancelled task does not wait, and ends below.
                try? await Task.sleep(until: pauseEnd, clock: .continuous)
                return !Task.isCancelled
            }
            return false
        }

        /// Reads the elements.
        ///
        /// - Returns: `nil` if they are the same as before.
        private mutating func read(
            isolation actor: isolated (any Actor)?
        ) async throws(ParleyError) -> ResultSet<Found>? {
            let (source, before, shown) = (source, snapshot, shown)
            let start = ContinuousClock.now
            // The sets are compared on the thread of the store too: the caller may be the main actor.
            let (now, set) = try await source.store.read { transaction in
                let now = try QuerySnapshot(
                    source.query, source.window, after: before, in: transaction, source.activity)
                let changes = ResultDifference(from: shown.sections, to: now.sections) { old, new in
                    Found.rows.differ(old, new, in: source.properties)
                }.changes
                return (
                    now,
                    ResultSet(
                        sections: now.sections, total: now.total, isUpToDate: now.missing.isEmpty,
                        changes: changes)
                )
            }
            snapshot = now
            let end = ContinuousClock.now
            pauseEnd = end + Swift.max(QueryResults.interval, end - start)
            if let conversation = now.conversation, !now.missing.isEmpty,
                before?.missing != now.missing
            {
                source.loadMissing(conversation, now.missing)
            }
            let isFirst = before == nil
            guard
                isFirst || !set.changes.isEmpty || set.total != shown.total
                    || set.isUpToDate != shown.isUpToDate
            else { return nil }
            self.shown = set
            return set
        }
    }

    /// The shortest time from a set to the next one.
    static var interval: Duration { .milliseconds(16) }

    /// Whether a commit may have changed what the query finds (K61).
    ///
    /// - Parameter conversation: The one whose elements the query has found.
    private func concerns(_ commit: Store.Commit, _ conversation: Conversation.ID?) -> Bool {
        if Found.rows.tables.contains(.messages),
            commit.changes.contains(where: { change in change.movesMessages(of: conversation) })
        {
            return true
        }
        guard !Found.rows.tables.isDisjoint(with: commit.tables) else { return false }
        guard let conversation else { return true }
        // Any object may show an identity.
        return commit.conversations.contains(conversation) || commit.tables.contains(.identities)
    }
}

extension ObjectChange {
    /// Whether all messages of a conversation may be shown, hidden or those of another one from now on.
    ///
    /// - Parameter conversation: `nil` for any.
    fileprivate func movesMessages(of conversation: Conversation.ID?) -> Bool {
        let changed: [ObjectID]
        switch kind {
        case .created, .deleted: changed = [object]
        case .renamed(let former): changed = [object, former]
        case .updated: return false
        case .resynchronize: return true
        }
        return changed.contains { object in
            guard case .conversation(let id) = object else { return false }
            return conversation == nil || id == conversation
        }
    }
}
