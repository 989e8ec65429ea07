internal import HTTP
internal import JSON
internal import MessagingWire
internal import SQL

extension ParleyClient {
    /// The identity of a user as this device knows it; one without texts if it knows none.
    public func identity(_ user: UserID) async throws(ParleyError) -> Identity {
        try await read { reader in try reader.identity(user) }
    }

    /// Follows users: their identities are received, and each change of them.
    ///
    /// - Throws: `invalidMessage` for an invalid user id.
    public func follow(_ users: Set<UserID>) async throws(ParleyError) {
        try await setFollowed(true, users)
    }

    /// Ends following users.
    ///
    /// - Throws: `invalidMessage` for an invalid user id.
    public func unfollow(_ users: Set<UserID>) async throws(ParleyError) {
        try await setFollowed(false, users)
    }

    private func setFollowed(_ isFollowed: Bool, _ users: Set<UserID>) async throws(ParleyError) {
        for user in users { _ = try user.validated() }
        try await store.write { transaction in
            for user in users.sorted() {
                // Of several commands for one user the last counts (K34).
                try transaction.sql.execute(
                    """
                    DELETE FROM outbox WHERE lane = \(StoreTransaction.Lane.user.text)
                        AND kind IN ('follow', 'unfollow') AND answered_position IS NULL
                        AND payload = \(Array(user.text.utf8))
                    """)
                try transaction.enqueue(
                    isFollowed ? .follow : .unfollow, lane: .user, payload: Array(user.text.utf8),
                    at: Clock.now)
            }
        }
    }

    /// Waits until this device has an object, such as a message that a push notification names.
    ///
    /// - Throws: `timedOut` after the limit, `cancelled`, `closed`.
    public func waitFor(_ object: ObjectID, within limit: Duration) async throws(ParleyError) {
        let commits = store.commits.subscribe()
        let end = ContinuousClock.now + limit.forSleeping
        let timer = Task {
            try await Task.sleep(until: end, clock: .continuous)
            commits.close()
        }
        defer { timer.cancel() }
        while try await !has(object) {
            guard await commits.next() == nil else { continue }
            if Task.isCancelled { throw .cancelled }
            guard end <= .now else { throw .closed }
            throw ParleyError(
                .timedOut, "\(object) did not arrive within \(limit).", isTransient: true)
        }
    }

    private func has(_ object: ObjectID) async throws(ParleyError) -> Bool {
        try await read { reader in
            switch object {
            case .conversation(let id): try reader.conversation(id) != nil
            case .message(let id): try reader.message(id) != nil
            case .part(let id): try reader.parts(of: id.message).contains { $0.id == id }
            case .identity(let user):
                try reader.transaction.hasRow(in: "identities WHERE user = \(user.text)")
            }
        }
    }
}
