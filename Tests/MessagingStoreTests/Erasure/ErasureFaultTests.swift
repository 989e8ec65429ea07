import Messaging
import SQL
import SystemSupport
import TestSupport
import Testing

@testable import MessagingStore

/// Erasures that are interrupted by faults, or that have to be repeated (X16).
@Suite struct `An erasure that cannot continue` {
    private static let erika = UserID.named("erika-mustermann-77")

    @Test func `pauses after each fault, fails at last, and can be requested again`() async throws {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([Self.erika, .bo])
        try await sample.send("erika says", by: Self.erika, to: id)
        let payload = try await sample.payloadOfFirstEvent()
        try await sample.setPayloadOfFirstEvent([255])
        let requested = try await sample.store.eraseUser(Self.erika, in: sample.application)
        var pauses: [Int64] = []
        while try await sample.isRunning(requested.id), pauses.count < 100 {
            await #expect(throws: (any Error).self) { try await sample.run(requested.id) }
            guard try await sample.isRunning(requested.id) else { break }
            let error = try await sample.store.erasure(requested.id, in: sample.application).error
            #expect(error?.contains("failed (") == true)
            pauses.append(0)
            while try await sample.store.nextErasures().isEmpty {
                sample.wait(milliseconds: 1000)
                pauses[pauses.count - 1] += 1
            }
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32] + Array(repeating: 60, count: 13))
        let failed = try await sample.store.erasure(requested.id, in: sample.application)
        #expect(failed.state == .failed)
        #expect(failed.endedAt != nil)
        #expect(failed.error?.contains("failed (") == true)
        // The user is not refused any more.
        try await sample.conversation([Self.erika, .cy])
        try await sample.setPayloadOfFirstEvent(payload)
        let repeated = try await sample.erase(Self.erika)
        #expect(repeated.id == requested.id)
        #expect(repeated.state == .completed)
        #expect(repeated.error == nil)
        try await sample.expectNoRow(with: Self.erika.text)
        try await sample.expectNoRow(with: "erika says")
    }

    @Test func `can be repeated after the user was added again to its conversations`() async throws
    {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([Self.erika, .bo])
        let message = try await sample.send(by: .bo, to: id).object.message
        _ = try await sample.store.markAllRead(
            upTo: nil, by: Self.erika, in: id, in: sample.application)
        try await sample.store.deleteMessage(
            message.id, forAll: false, by: Self.erika, in: sample.application)
        let payload = try await sample.payloadOfFirstEvent()
        try await sample.setPayloadOfFirstEvent([255])
        let requested = try await sample.store.eraseUser(Self.erika, in: sample.application)
        try await sample.fail(requested.id)
        try await sample.setPayloadOfFirstEvent(payload)
        try await sample.patch(id, .addParticipant(Self.erika))
        try await sample.send(by: .bo, to: id)
        _ = try await sample.store.markAllRead(
            upTo: nil, by: Self.erika, in: id, in: sample.application)
        try await sample.hide(message.position, from: Self.erika, in: id)
        let repeated = try await sample.erase(Self.erika)
        #expect(repeated.id == requested.id)
        #expect(repeated.state == .completed)
        #expect(repeated.error == nil)
        try await sample.expectNoRow(with: Self.erika.text)
        let erased = try await sample.rows().filter { row in
            row.hasPrefix("participants") && row.contains(repeated.erasedUser.text)
        }
        #expect(erased.count == 1)
    }

    @Test func `finds in a further round what was written after its first pass`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([Self.erika, .bo])
        let requested = try await sample.store.eraseUser(Self.erika, in: sample.application)
        let isCounted = Locked(false)
        let uploads = ErasureUploads(
            remove: { _, _ in 0 },
            count: { _, _ in
                isCounted.withLock { isCounted in isCounted = true }
                return (all: 0, named: 0)
            })
        try await sample.run(requested.id, uploads)
        #expect(try await sample.isRunning(requested.id))
        #expect(!isCounted.withLock { isCounted in isCounted })
        let key = try #require(IdempotencyKey("key"))
        _ = try await sample.store.doOnceOutsideTransaction(
            key, of: Self.erika, describedBy: [[1]], in: sample.application
        ) { _ in StoredResponse(status: 201, fields: [], body: []) }
        sample.wait(milliseconds: 1999)
        #expect(try await sample.store.nextErasures().isEmpty)
        sample.wait(milliseconds: 1)
        #expect(try await sample.store.nextErasures().map(\.id) == [requested.id])
        try await sample.run(requested.id, uploads)
        #expect(isCounted.withLock { isCounted in isCounted })
        let erasure = try await sample.erase(Self.erika)
        #expect(erasure.state == .completed)
        #expect(erasure.round == 2)
        try await sample.expectNoRow(with: Self.erika.text)
    }

    @Test func `has no digest when it fails during a proof`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([Self.erika, .bo])
        let requested = try await sample.store.eraseUser(Self.erika, in: sample.application)
        try await sample.run(requested.id)
        try await sample.setPayloadOfFirstEvent([255])
        try await sample.fail(requested.id)
        let failed = try await sample.store.erasure(requested.id, in: sample.application)
        #expect(failed.isProving)
        #expect(failed.digest == nil)
    }

    @Test func `stores no fault of a process that was overtaken`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([Self.erika, .bo])
        let requested = try await sample.store.eraseUser(Self.erika, in: sample.application)
        let overtaken = ErasureUploads(
            remove: { _, application in
                try await sample.database.write { transaction in
                    try transaction.execute(
                        """
                        UPDATE erasures SET revision = revision + 1
                        WHERE application = \(application) AND id = \(requested.id)
                        """)
                }
                throw StoreFault.unreadable("upload")
            }, count: { _, _ in (all: 0, named: 0) })
        await #expect(throws: StoreFault.self) { try await sample.run(requested.id, overtaken) }
        let erasure = try await sample.store.erasure(requested.id, in: sample.application)
        #expect(erasure.error == nil)
        #expect(try await sample.store.nextErasures().map(\.id) == [requested.id])
    }

    @Test func `reads pages of large events in parts`() async throws {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([Self.erika, .bo])
        let part = try MessagePart.Draft(
            mimeType: "text/plain", body: .inline([UInt8](repeating: 0x61, count: 2048)))
        for user in [Self.erika, .bo, Self.erika] {
            _ = try await sample.store.sendMessage(
                Message.Draft(
                    sender: .user(user), parts: Array(repeating: part, count: Message.partLimit)),
                to: id, in: sample.application)
        }
        let erasure = try await sample.erase(Self.erika)
        #expect(erasure.state == .completed)
        #expect(erasure.round == 1)
        let events = erasure.counts.first { count in count.table == "events" }
        #expect(try await events?.scanned == Int64(sample.events().count))
        try await sample.expectNoRow(with: Self.erika.text)
    }

    @Test func `makes further rounds after pauses while an upload is in use`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([Self.erika, .bo])
        let requested = try await sample.store.eraseUser(Self.erika, in: sample.application)
        let isInUse = ErasureUploads(
            remove: { _, _ in 0 }, count: { _, _ in (all: 1, named: 1) })
        var pauses: [Int64] = []
        while true {
            try await sample.run(requested.id, isInUse)
            guard try await sample.isRunning(requested.id) else { break }
            pauses.append(0)
            while try await sample.store.nextErasures().isEmpty {
                sample.wait(milliseconds: 1000)
                pauses[pauses.count - 1] += 1
            }
        }
        // Before each proof, and after each of the first four.
        #expect(pauses == [2, 1, 2, 2, 2, 4, 2, 8, 2])
        let erasure = try await sample.store.erasure(requested.id, in: sample.application)
        #expect(erasure.state == .failed)
        #expect(erasure.round == Erasure.roundLimit)
        #expect(erasure.error?.contains("1 of uploads") == true)
    }

    @Test func `is refused above the limit, and the oldest one of an application is next`()
        async throws
    {
        let sample = try await SampleApplication()
        let users = (0...Erasure.runningLimit).map { number in UserID.named("user-\(number)") }
        for user in users {
            _ = try await sample.store.createIdentity(
                Identity(userID: user), in: sample.application)
        }
        for user in users.dropLast() {
            _ = try await sample.store.eraseUser(user, in: sample.application)
        }
        let last = try #require(users.last)
        await #expect(throws: Rejection.full(.erasure, limit: Erasure.runningLimit)) {
            try await sample.store.eraseUser(last, in: sample.application)
        }
        // A repeated request is no new erasure.
        let first = try await sample.store.eraseUser(users[0], in: sample.application)
        let next = try await sample.store.nextErasures()
        #expect(next.map(\.id) == [first.id])
        _ = try await sample.erase(users[0])
        _ = try await sample.store.eraseUser(last, in: sample.application)
    }

    @Test func `removes the file names of all contents of the user`() async throws {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([Self.erika, .bo])
        try await sample.upload(1, "erika-unused.png", by: Self.erika)
        _ = try await sample.store.withdrawUnusedContents(
            completedBefore: Timestamp(milliseconds: .max), limit: 10)
        try await sample.upload(2, "erika-withdrawn.png", by: Self.erika)
        try await sample.upload(3, "erika-scheduled.png", by: nil)
        try await sample.schedule(.sample(3), by: Self.erika, to: id)
        try await sample.upload(4, "erika-deleted.png", by: nil)
        try await sample.upload(5, "erika-replaced.png", by: nil)
        try await sample.upload(6, "erika-added.png", by: nil)
        // More events than a page of the log has, so that their users are in other pages.
        for number in 1...70 { try await sample.send("\(number)", by: .bo, to: id) }
        let deleted = try await sample.send(.sample(4), by: Self.erika, to: id)
        try await sample.store.deleteMessage(deleted, in: nil, in: sample.application)
        let replaced = try await sample.send(.sample(5), by: Self.erika, to: id)
        try await sample.replacePart(of: replaced, .inline([1]), in: id)
        let added = try await sample.send("text", by: Self.erika, to: id).object.message.id
        try await sample.replacePart(of: added, .content(.sample(6), size: 5), in: id)
        try await sample.replacePart(of: added, .inline([1]), in: id)
        try await sample.upload(7, "erika-shared.png", by: Self.erika)
        _ = try await sample.send(.sample(7), by: Self.erika, to: id)
        _ = try await sample.send(.sample(7), by: .bo, to: id)
        try await sample.upload(8, "bo-kept.png", by: .bo)
        _ = try await sample.send(.sample(8), by: .bo, to: id)
        let erasure = try await sample.erase(Self.erika)
        #expect(erasure.state == .completed)
        #expect(erasure.round == 1)
        for name in [
            "unused", "withdrawn", "scheduled", "deleted", "replaced", "added", "shared",
        ] {
            try await sample.expectNoRow(with: "erika-\(name).png")
        }
        let kept = hexadecimal(Array("bo-kept.png".utf8))
        let rows = try await sample.rows()
        #expect(rows.contains { row in row.hasPrefix("events") && row.contains(kept) })
        #expect(rows.contains { row in row.hasPrefix("contents") && row.contains("bo-kept.png") })
    }

    @Test(arguments: ["log", "failure"]) func `removes the user from the answers of webhooks`(
        column: String
    ) async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([Self.erika, .bo])
        try await sample.deliver("{\"user_id\":\"bo\"}")
        let text = "no \"\(Self.erika.text)\""
        try await sample.database.write { transaction in
            try transaction.execute(
                column == "log"
                    ? "/* test */ UPDATE deliveries SET log = \(Array(text.utf8)) WHERE application = \(sample.application)"
                    : "/* test */ UPDATE deliveries SET failure = \(text) WHERE application = \(sample.application)"
            )
        }
        let erasure = try await sample.erase(Self.erika)
        #expect(erasure.counts.first { count in count.table == "deliveries" }?.erased == 1)
        try await sample.expectNoRow(with: Self.erika.text)
        // The body names another user.
        let body = hexadecimal(Array("{\"user_id\":\"bo\"}".utf8))
        #expect(try await sample.rows().contains { row in row.contains(body) })
    }

    @Test func `tells only the recipients of an announcement`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([Self.erika, .bo])
        try await sample.conversation([.cy])
        try await sample.announce(by: .user(Self.erika), to: [.bo])
        let start = try await sample.end()
        _ = try await sample.erase(Self.erika)
        let position = try #require(
            try await sample.events().first { recorded in
                recorded.event.type == .announcementErased
            }?.position)
        #expect(position > start)
        let found = try await sample.store.feedActivity(
            after: LogPosition(position.number - 1), among: [.bo: [], .cy: []],
            in: sample.application)
        #expect(found?.users == [.bo])
    }
}

extension SampleApplication {
    fileprivate func run(_ id: Erasure.ID, _ uploads: ErasureUploads = .none) async throws {
        try await store.runErasure(id, in: application, bodies: .sample, uploads: uploads)
    }

    /// Works on an erasure until it has failed.
    fileprivate func fail(_ id: Erasure.ID) async throws {
        while try await isRunning(id) {
            await #expect(throws: (any Error).self) { try await run(id) }
        }
        #expect(try await store.erasure(id, in: application).state == .failed)
    }

    fileprivate func hide(
        _ position: Position, from user: UserID, in conversation: Conversation.ID
    ) async throws {
        let application = application
        try await database.write { transaction in
            try transaction.execute(
                """
                INSERT INTO hidden_messages (application, conversation, position, user_id)
                VALUES (\(application), \(conversation), \(position), \(user))
                """)
        }
    }

    fileprivate func payloadOfFirstEvent() async throws -> [UInt8] {
        let application = application
        let payload = try await database.read { transaction in
            try transaction.first(
                "SELECT payload FROM events WHERE application = \(application) AND position = 1"
            ) { row in try row.blob(0) }
        }
        return try #require(payload)
    }

    fileprivate func setPayloadOfFirstEvent(_ payload: [UInt8]) async throws {
        let application = application
        try await database.write { transaction in
            try transaction.execute(
                """
                UPDATE events SET payload = \(payload)
                WHERE application = \(application) AND position = 1
                """)
        }
    }

    fileprivate func upload(_ number: UInt128, _ name: String, by user: UserID?) async throws {
        let content = Content(
            id: .sample(number), conversation: nil, mimeType: "image/png", size: 5,
            fileName: name, sha256: [1, 2], crc32c: .max, md5: nil, sha512: [3, 4],
            completedAt: store.environment.now(), origin: nil)
        try await store.finishUpload(content, by: Perspective(user), in: application)
    }

    private func draft(_ content: Content.ID, by user: UserID) throws -> Message.Draft {
        try Message.Draft(
            sender: .user(user),
            parts: [MessagePart.Draft(mimeType: "image/png", body: .content(content, size: 5))])
    }

    fileprivate func send(
        _ content: Content.ID, by user: UserID, to conversation: Conversation.ID
    ) async throws -> Message.ID {
        try await store.sendMessage(draft(content, by: user), to: conversation, in: application)
            .object.message.id
    }

    fileprivate func schedule(
        _ content: Content.ID, by user: UserID, to conversation: Conversation.ID
    ) async throws {
        _ = try await store.scheduleMessage(
            draft(content, by: user), to: conversation, for: Schedule(delay: 300_000, typing: nil),
            in: application)
    }

    fileprivate func replacePart(
        of message: Message.ID, _ body: MessagePart.Body, in conversation: Conversation.ID
    ) async throws {
        try await store.changeParts(
            .replace(.index(0), try MessagePart.Draft(mimeType: "image/png", body: body)),
            of: message, in: conversation, by: .system, in: application)
    }
}
