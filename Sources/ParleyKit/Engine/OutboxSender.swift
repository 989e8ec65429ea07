internal import HTTP
internal import JSON
internal import Logging
internal import Messaging
internal import MessagingWire
internal import SQL
internal import SystemSupport

/// Sends the rows of the outbox: of each lane one at a time, at most six at once (K30).
struct OutboxSender {
    /// The most requests at once.
    private static let parallelRequests = 6

    private let engine: SyncEngine
    private var store: Store { engine.store }

    init(_ engine: SyncEngine) { self.engine = engine }

    /// The lanes whose last attempt has failed.
    private struct Delays {
        var attempts: [String: Int] = [:]
        var until: [String: ContinuousClock.Instant] = [:]
        var kicks = 0
    }

    /// What became of an attempt.
    private enum Attempt: Sendable {
        case ended
        case retry(Duration?)
    }

    /// Runs until its task is cancelled.
    func run() async {
        let commits = store.commits.subscribe()
        let watcher = Task { [wake = engine.outboxWake] in
            while let commit = await commits.next() {
                if commit.hasCommands { wake.signal() }
            }
        }
        defer { watcher.cancel() }
        await withTaskGroup(of: Event.self) { group in
            var running: Set<String> = []
            var delays = Delays()
            var isWaiting = false
            while !Task.isCancelled {
                let rows = (try? await store.read { try StoreTransaction($0).nextRows() }) ?? []
                if engine.kicks != delays.kicks { delays = Delays(kicks: engine.kicks) }
                let now = ContinuousClock.now
                for row in rows where !running.contains(row.lane) {
                    guard running.count < Self.parallelRequests else { break }
                    if let until = delays.until[row.lane], until > now { continue }
                    running.insert(row.lane)
                    group.addTask { .ended(lane: row.lane, await attempt(row)) }
                }
                if !isWaiting {
                    isWaiting = true
                    let pause = Self.pause(rows.filter { !running.contains($0.lane) }, delays)
                    group.addTask {
                        await engine.outboxWake.wait(atMost: pause)
                        return .woken
                    }
                }
                switch await group.next() {
                case .ended(let lane, let attempt)?:
                    running.remove(lane)
                    note(attempt, of: lane, in: &delays)
                case .woken?: isWaiting = false
                case nil: return
                }
            }
            group.cancelAll()
        }
    }

    /// What ends a wait of the loop.
    private enum Event: Sendable {
        case ended(lane: String, Attempt)
        case woken
    }

    private func note(_ attempt: Attempt, of lane: String, in delays: inout Delays) {
        switch attempt {
        case .ended:
            // A request that succeeded ends every back-off (K14).
            delays = Delays(kicks: delays.kicks)
        case .retry(let after):
            let attempts = delays.attempts[lane, default: 0] + 1
            delays.attempts[lane] = attempts
            let delay = after ?? Backoff.delay(attempt: attempts, first: 1, most: 300)
            delays.until[lane] = .now + delay
            // The wait under way does not know of this delay.
            engine.outboxWake.signal()
        }
    }

    /// How long to wait for a signal: until the first back-off ends; without one, for a day.
    private static func pause(_ rows: [OutboxRow], _ delays: Delays) -> Int64 {
        let next = rows.compactMap { row in delays.until[row.lane] }.min()
        guard let next else { return 86_400_000 }
        return max(1, Int64((next - .now) / .milliseconds(1)))
    }

    // MARK: - One attempt

    private func attempt(_ row: OutboxRow) async -> Attempt {
        engine.activity.begin(row.number)
        noteDelivery(of: row)
        defer {
            engine.activity.end(row.number)
            noteDelivery(of: row)
        }
        let kicks = engine.kicks
        do throws(ParleyError) {
            return try await send(row)
        } catch {
            noteRetry(row, error)
            // A kick has given the request up, or has come meanwhile.
            return .retry(engine.kicks == kicks ? nil : .zero)
        }
    }

    private func noteRetry(_ row: OutboxRow, _ error: ParleyError) {
        engine.configuration.logger.debug(
            "a command is sent again later",
            metadata: [
                "kind": "\(row.kind.rawValue)", "error": "\(error.code.rawValue)",
                "message": "\(error.message)",
            ])
    }

    /// Shows that a message is on its way, or no longer.
    private func noteDelivery(of row: OutboxRow) {
        guard row.kind == .send, let message = row.message, let conversation = row.conversation
        else { return }
        store.commits.publish(
            Store.Commit(
                changes: [
                    ObjectChange(object: .message(message), kind: .updated(property: "delivery"))
                ], tables: [.messages], conversations: [conversation]))
    }

    /// The row as it is sent: nothing is combined with it any more; `nil` if it was dropped.
    private func begun(_ waiting: OutboxRow) async throws(ParleyError) -> OutboxRow? {
        guard waiting.kind == .create || waiting.kind == .patch else { return waiting }
        return try await store.write { transaction in
            var row = waiting
            guard let payload = try transaction.beginSending(row.number) else { return nil }
            row.payload = payload
            return row
        }
    }

    private func send(_ waiting: OutboxRow) async throws(ParleyError) -> Attempt {
        guard let row = try await begun(waiting) else { return .ended }
        let positions: IntervalSet? =
            switch row.kind {
            case .read, .delivery:
                try await store.read { sql in try StoreTransaction(sql).positions(of: row) }
            default: nil
            }
        if let positions, positions.isEmpty {
            try await finish(row, .done, nil, nil, nil)
            return .ended
        }
        guard let request = try await request(row, positions) else {
            try await finish(row, .done, nil, nil, nil)
            return .ended
        }
        let answer = try await engine.send(request)
        let response = OutboxResponse(
            status: answer.status, body: answer.body,
            contentLocation: answer.headers["content-location"],
            retryAfter: answer.headers.retryAfter,
            cursor: answer.headers["parley-cursor"].flatMap { text in FeedPosition(text) })
        let outcome = OutboxOutcome(response, to: row.kind, creating: row.conversation)
        switch outcome {
        case .retry(let after, let error):
            noteRetry(row, error)
            return .retry(after.map { seconds in .seconds(seconds) })
        case .authenticate: return .retry(nil)
        case .done, .merged, .refused: break
        }
        let sent: MessageSnapshot? =
            if row.kind == .send, outcome == .done {
                try await sentMessage(row, answer)
            } else {
                nil
            }
        try await finish(row, outcome, positions, sent, response.cursor)
        return .ended
    }

    /// The message of a send as the server has it: from the answer, and after a lost answer by a request; `nil` if the user
    /// sees it no longer.
    private func sentMessage(
        _ row: OutboxRow, _ answer: TransportResponse
    ) async throws(ParleyError) -> MessageSnapshot? {
        if let message = Self.message(answer) { return message }
        guard let id = row.message else { return nil }
        let found = try await engine.send(
            TransportRequest(
                method: .get, path: "/messages/\(id.value.uuid)",
                headers: [("Accept", SyncEngine.accept)]))
        if let message = Self.message(found) { return message }
        let error = ParleyError(
            status: found.status, (try? JSONDocument(found.body))?.root)
        guard error.server != nil, !error.isTransient, error.code != .notAuthenticated else {
            throw error
        }
        return nil
    }

    private static func message(_ answer: TransportResponse) -> MessageSnapshot? {
        guard (200...299).contains(answer.status) else { return nil }
        return (try? JSONDocument(answer.body)).flatMap { document in
            MessageJSON.readResponse(document.root)?.snapshot
        }
    }

    private func finish(
        _ row: OutboxRow, _ outcome: OutboxOutcome, _ positions: IntervalSet?,
        _ sent: MessageSnapshot?, _ cursor: FeedPosition?
    ) async throws(ParleyError) {
        let failures = try await store.write { transaction -> [OperationFailure] in
            let now = Clock.now
            switch outcome {
            case .done:
                try transaction.succeed(
                    row, reporting: positions, sent: sent, at: cursor, now: now)
                return []
            case .merged(let id, let error):
                try transaction.succeed(row, reporting: nil, at: cursor, now: now)
                if let former = row.conversation { try transaction.merge(former, into: id) }
                return error.map { error in
                    [OperationFailure(object: .conversation(id), error: error)]
                } ?? []
            case .refused(let error, let wholeLane):
                return try transaction.fail(row, error, wholeLane: wholeLane)
            case .retry, .authenticate: return []
            }
        }
        for failure in failures { engine.failures.publish(failure) }
        guard cursor != nil else { return }
        Task { [weak engine] in
            var delay = Self.confirmationDelay
            while let engine, await engine.hasUnconfirmedAnswers(), delay < Self.lastConfirmation {
                try await Task.sleep(for: delay)
                await engine.confirmAnswers()
                delay *= 2
            }
        }
    }

    /// How long the feed has to show the effect of an answered row before it is asked; twice as long after each request.
    private static let confirmationDelay = Duration.seconds(2)
    /// A row that waits longer than this is confirmed by the next change of the feed.
    private static let lastConfirmation = Duration.seconds(60)

    // MARK: - Requests

    /// The request of a row; `nil` if there is nothing to do any more.
    private func request(
        _ row: OutboxRow, _ positions: IntervalSet?
    ) async throws(ParleyError) -> TransportRequest? {
        let conversation = row.conversation.map { id in "/conversations/\(id.value.uuid)" } ?? ""
        let message =
            row.message.map { id in
                "/\(id.isAnnouncement ? "announcements" : "messages")/\(id.value.uuid)"
            } ?? ""
        switch row.kind {
        case .create: return json(.post, "/conversations", row, row.payload)
        case .send:
            guard let body = try await messageBody(row) else { return nil }
            return json(.post, "\(conversation)/messages", row, body)
        case .patch:
            return json(
                .patch, conversation, row, row.payload, type: "application/vnd.layer-patch+json")
        case .read, .delivery:
            let kind: Receipts.Kind = row.kind == .read ? .read : .delivery
            return json(
                .post, "\(conversation)/receipts", row,
                ReceiptJSON.body(kind, positions ?? IntervalSet()))
        case .markAllRead:
            return json(.post, "\(conversation)/mark_all_read", row, row.payload)
        case .announcementRead:
            return json(.post, "\(message)/receipts", row, row.payload)
        case .deleteMessage: return delete("\(message)?mode=\(mode(row))")
        case .deleteConversation: return delete("\(conversation)?mode=\(mode(row))")
        case .leave: return delete("\(conversation)?mode=my_devices&leave=true")
        case .registerPush: return json(.post, "/push_tokens", row, row.payload)
        case .unregisterPush:
            return delete("/push_tokens/\(String(decoding: row.payload, as: UTF8.self))")
        case .follow, .unfollow:
            let user = URIComponent.encoded(String(decoding: row.payload, as: UTF8.self))
            return TransportRequest(
                method: row.kind == .follow ? .put : .delete, path: "/following/users/\(user)",
                headers: [("Accept", SyncEngine.accept)])
        }
    }

    private func mode(_ row: OutboxRow) -> String { String(decoding: row.payload, as: UTF8.self) }

    private func json(
        _ method: HTTP.Method, _ path: String, _ row: OutboxRow, _ body: [UInt8],
        type: String = "application/json"
    ) -> TransportRequest {
        TransportRequest(
            method: method, path: path,
            headers: [
                ("Accept", SyncEngine.accept), ("Content-Type", type),
                ("Idempotency-Key", row.key),
            ], body: body)
    }

    private func delete(_ path: String) -> TransportRequest {
        TransportRequest(
            method: .delete, path: path, headers: [("Accept", SyncEngine.accept)])
    }

    /// The body of a send, made of the rows of its parts; `nil` if the message was discarded.
    private func messageBody(_ row: OutboxRow) async throws(ParleyError) -> [UInt8]? {
        guard let message = row.message else { return nil }
        return try await store.read { sql in
            let parts = try sql.rows(
                """
                SELECT name, mime_type, body, content, size FROM parts
                WHERE message = \(message.bytes) ORDER BY part
                """
            ) { row in
                let content = try row.optionalBlob("content").flatMap { bytes in
                    Messaging.Content.ID(bytes: bytes)
                }
                return try Messaging.MessagePart.Draft(
                    mimeType: try row.text("mime_type"),
                    body: try content.map { id in .content(id, size: try row.int64("size")) }
                        ?? .inline(try row.blob("body")),
                    proposedID: Messaging.MessagePart.ID(uuid: try row.text("name")))
            }
            guard !parts.isEmpty else { return nil }
            let user = try StoreTransaction(sql).user().validated()
            return MessageDraftJSON.userBody(
                try Messaging.Message.Draft(
                    sender: .user(user), parts: parts,
                    notification: row.payload.isEmpty ? nil : row.payload,
                    proposedID: message.value))
        }
    }
}
