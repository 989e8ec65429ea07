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
    private let logger: Logger
    private var store: Store { engine.store }

    init(_ engine: SyncEngine) {
        self.engine = engine
        logger = engine.log.logger(.outbox)
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
            var schedule = OutboxSchedule()
            var isWaiting = false
            while !Task.isCancelled {
                let rows = (try? await store.read { try StoreTransaction($0).nextRows() }) ?? []
                if engine.kicks != schedule.kicks { schedule.endDelays(kicks: engine.kicks) }
                let (now, isLive) = (ContinuousClock.now, engine.connection == .live)
                // A row on its way may have been moved to another lane by a merge.
                let waiting = rows.filter { row in
                    !running.contains(row.lane) && !engine.activity.isSending(row.number)
                        && (isLive || !row.needsLiveFeed(at: Clock.now))
                }
                for row in waiting where schedule.allows(row, at: now) {
                    guard running.count < Self.parallelRequests else { break }
                    running.insert(row.lane)
                    engine.activity.begin(row.number)
                    schedule.noteStart(of: row, at: now)
                    group.addTask { .ended(lane: row.lane, await attempt(row)) }
                }
                if !isWaiting {
                    isWaiting = true
                    let pause = schedule.pause(before: waiting, at: now)
                    group.addTask {
                        await engine.outboxWake.wait(atMost: pause)
                        return .woken
                    }
                }
                switch await group.next() {
                case .ended(let lane, let attempt)?:
                    running.remove(lane)
                    note(attempt, of: lane, in: &schedule)
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

    private func note(
        _ attempt: Attempt, of lane: String, in schedule: inout OutboxSchedule
    ) {
        switch attempt {
        case .ended:
            // A request that succeeded ends every back-off (K14).
            schedule.endDelays(kicks: schedule.kicks)
        case .retry(let after):
            schedule.noteFailure(in: lane, retryingAfter: after, at: .now)
        }
        // The wait under way does not know of the delays since it began.
        if schedule.hasDelays { engine.outboxWake.signal() }
    }

    // MARK: - One attempt

    private func attempt(_ row: OutboxRow) async -> Attempt {
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

    private func metadata(_ row: OutboxRow, _ error: ParleyError) -> Logger.Metadata {
        error.logged.merging(["kind": "\(row.kind.rawValue)"]) { _, new in new }
    }

    private func noteRetry(_ row: OutboxRow, _ error: ParleyError) {
        logger.debug("a command is sent again later", metadata: metadata(row, error))
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

    /// A request, and what it reports.
    private struct Call {
        let row: OutboxRow
        let request: TransportRequest
        var report: ReceiptReport?
    }

    /// What is sent for a row.
    ///
    /// - Returns: `nil` if there is nothing to send, now or any more.
    private func call(_ row: OutboxRow) async throws(ParleyError) -> Call? {
        switch row.kind {
        case .create, .patch:
            let attempt = try await store.write { transaction in
                try transaction.beginSending(row.number, at: Clock.now)
            }
            switch attempt {
            case .send(let row):
                guard let request = try await request(row) else { return nil }
                return Call(row: row, request: request)
            case .done(let row): try await finish(row, .done, nil, nil, nil)
            case .dropped: break
            }
            return nil
        case .read, .delivery, .markAllRead:
            let report = try await store.read { sql in try StoreTransaction(sql).report(of: row) }
            guard let report else { return nil }
            guard !report.positions.isEmpty else {
                try await finish(row, .done, report, nil, nil)
                return nil
            }
            return Call(row: row, request: receipt(report, of: row), report: report)
        default:
            guard let request = try await request(row) else {
                try await finish(row, .done, nil, nil, nil)
                return nil
            }
            return Call(row: row, request: request)
        }
    }

    private func send(_ waiting: OutboxRow) async throws(ParleyError) -> Attempt {
        guard let call = try await call(waiting) else { return .ended }
        let row = call.row
        let answer = try await engine.send(call.request)
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
        case .refused(let error, _):
            logger.info("a command was refused", metadata: metadata(row, error))
        case .done, .merged: break
        }
        let sent: MessageSnapshot? =
            if row.kind == .send, outcome == .done {
                try await sentMessage(row, answer)
            } else {
                nil
            }
        try await finish(row, outcome, call.report, sent, response.cursor)
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
        _ sent: OutboxRow, _ outcome: OutboxOutcome, _ report: ReceiptReport?,
        _ message: MessageSnapshot?, _ cursor: FeedPosition?
    ) async throws(ParleyError) {
        let failures = try await store.write { transaction -> [OperationFailure] in
            let now = Clock.now
            // A merge may have moved it meanwhile. One that was dropped has no effect here.
            guard let row = try transaction.row(sent.number) else { return [] }
            switch outcome {
            case .done:
                try transaction.succeed(
                    row, reporting: report?.positions, sent: message, at: cursor, now: now)
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
        if cursor != nil { engine.noteAnswer() }
    }

    // MARK: - Requests

    /// The request of a row; `nil` if there is nothing to do any more.
    private func request(_ row: OutboxRow) async throws(ParleyError) -> TransportRequest? {
        let conversation = path(of: row.conversation)
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
        case .read, .delivery, .markAllRead: return nil
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

    /// The request of a receipt. It needs no key: a message is delivered or read once, however often that is said, and the
    /// positions of another attempt may be others.
    private func receipt(_ report: ReceiptReport, of row: OutboxRow) -> TransportRequest {
        TransportRequest(
            method: .post, path: "\(path(of: row.conversation))/receipts",
            headers: [("Accept", SyncEngine.accept), ("Content-Type", "application/json")],
            body: ReceiptJSON.body(report.kind, report.positions, knownAt: report.cursor))
    }

    private func path(of conversation: Conversation.ID?) -> String {
        conversation.map { id in "/conversations/\(id.value.uuid)" } ?? ""
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
