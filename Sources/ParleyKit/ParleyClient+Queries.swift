internal import Messaging
internal import SystemSupport

extension ParleyClient {
    /// The elements of a query, in order.
    ///
    /// - Throws: `invalidMetadata` for an invalid path of a metadata column, `closed`, or an error of the store.
    public func fetch<Element>(_ query: Query<Element>) async throws(ParleyError) -> [Element] {
        try await queries.fetch(query)
    }

    /// The ids of the elements of a query, in order.
    ///
    /// - Throws: As ``fetch(_:)``.
    public func ids<Element>(_ query: Query<Element>) async throws(ParleyError) -> [Element.ID] {
        try await queries.ids(query)
    }

    /// The number of elements of a query.
    ///
    /// - Throws: As ``fetch(_:)``.
    public func count<Element>(_ query: Query<Element>) async throws(ParleyError) -> Int {
        try await queries.count(query)
    }

    /// The elements of a query, now and after each change: the current set, then one for each commit that changes it, at
    /// most one per 16 ms, and the newest for a slow reader.
    ///
    /// - Parameters:
    ///   - window: Which of the elements a set holds. Where messages inside it are missing on this device, they are
    ///     requested from the server.
    ///   - properties: The properties whose changes count as updates of an element; `nil` for all.
    public func results<Element>(
        _ query: Query<Element>, window: Window = .all, updating properties: Set<String>? = nil
    ) -> some AsyncSequence<ResultSet<Element>, ParleyError> & Sendable {
        queries.results(query, window: window, updating: properties)
    }

    /// Answers queries; loads what a window misses.
    var queries: QueryRunner {
        QueryRunner(store, engine.activity) { [weak self] conversation, missing in
            guard let self else { return }
            guard let wake = missingMessages.add(missing, of: conversation) else { return }
            Task { await self.loadMissing(in: conversation, wake) }
        }
    }

    /// Loads what queries of a conversation miss, as soon as there is a connection, and again after errors that may pass;
    /// gives up when the client is closed.
    private func loadMissing(in conversation: Conversation.ID, _ wake: WakeSignal) async {
        var states = connections.makeAsyncIterator()
        var failures = 0
        while true {
            while connection != .live {
                guard await states.next() != nil else { return }
            }
            do throws(ParleyError) {
                let oldest = try await loadPage(in: conversation) { [missingMessages] position in
                    missingMessages.count(of: conversation, before: position)
                }.oldest
                failures = 0
                if missingMessages.end(conversation, at: oldest) { return }
            } catch {
                guard error.isTransient || Self.sessionErrors.contains(error.code) else {
                    _ = missingMessages.end(conversation, at: 0)
                    return
                }
                failures += 1
                let delay = Backoff.delay(attempt: failures, first: 1, most: 60)
                await wake.wait(atMost: Int64(delay / .milliseconds(1)))
            }
        }
    }

    /// Errors that another session ends.
    private static let sessionErrors: [ParleyError.Code] = [
        .notAuthenticated, .authenticationFailed, .suspended,
    ]
}

extension LiveResults {
    /// The elements of a query of a client.
    public convenience init(
        _ query: Query<Element>, in client: ParleyClient, window: Window = .all
    ) {
        self.init(query, in: client.queries, window: window)
    }
}
