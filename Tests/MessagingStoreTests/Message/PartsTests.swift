import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Parts of a message` {
    /// A message of `count` parts: `"0"`, `"1"` …
    func makeMessage(
        _ count: Int = 3
    ) async throws -> (sample: SampleApplication, conversation: Conversation.ID, message: Message) {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let message = try await sample.store.sendMessage(
            Message.Draft(
                sender: .user(.ana), parts: (0..<count).map { number in try .text("\(number)") }),
            to: conversation, in: sample.application
        ).object.message
        sample.tick()
        return (sample, conversation, message)
    }

    @Test func `5.3: a change records created, updated and removed parts in one event`()
        async throws
    {
        let (sample, conversation, message) = try await makeMessage()
        let now = sample.store.environment.now()
        let kinds = try await sample.kinds {
            try await sample.store.changeParts(
                .replaceAll([
                    .init(name: nil, draft: .text("new")),
                    .init(name: .id(message.parts[2].id), draft: .text("two")),
                ]), of: message.id, in: conversation, by: .system, in: sample.application)
        }
        #expect(kinds == ["message.updated"])
        guard case .partsChanged(let change) = try await sample.events().last?.event else {
            Issue.record("The last event is no change of parts.")
            return
        }
        #expect(change.created.map(\.index) == [3])
        #expect(change.updated.map(\.id) == [message.parts[2].id])
        #expect(change.removed.map(\.index) == [0, 1])
        #expect(change.removed.map(\.id) == message.parts.prefix(2).map(\.id))
        #expect(change.order == [3, 2])
        #expect(change.partsMade == 4)
        #expect(change.at == now)
    }

    @Test func `5.3: the response equals a later read, and nothing else has changed`() async throws
    {
        let (sample, conversation, message) = try await makeMessage()
        try await sample.store.recordReceipt(.read, of: message.id, by: .bo, in: sample.application)
        let before = try await sample.store.message(message.id, in: nil, in: sample.application)
        let operations: [PartOperation] = try [
            .replace(.index(1), .text("uno")),
            .replaceAll([
                .init(name: .index(2), draft: .text("c")), .init(name: nil, draft: .text("d")),
                .init(name: .index(0), draft: .text("a")),
            ]),
            .remove(.index(2)),
            .replaceAll([.init(name: .index(0), draft: .text("x"))]),
        ]
        for operation in operations {
            let answered = try await sample.store.changeParts(
                operation, of: message.id, in: conversation, by: .system, in: sample.application)
            let read = try await sample.store.message(message.id, in: nil, in: sample.application)
            #expect(read.message == answered)
            #expect(read.recipients == before.recipients)
            #expect(answered.position == message.position)
            #expect(answered.sentAt == message.sentAt)
            #expect(answered.updatedAt == sample.store.environment.now())
            sample.tick()
        }
        let after = try await sample.store.parts(
            of: message.id, in: conversation, by: .system, in: sample.application)
        #expect(after.version == 5)
        #expect(after.texts == ["x"])
    }

    @Test func `R25: parts added later come last`() async throws {
        let (sample, conversation, message) = try await makeMessage()
        try await sample.store.changeParts(
            .replaceAll([
                .init(name: .index(2), draft: .text("c")),
                .init(name: .index(0), draft: .text("a")),
            ]), of: message.id, in: conversation, by: .system, in: sample.application)
        for text in ["d", "e"] {
            let added = try await sample.store.addPart(
                .text(text), to: message.id, in: conversation, by: .system, in: sample.application)
            #expect(added.object.message.texts.last == text)
        }
        let read = try await sample.store.parts(
            of: message.id, in: conversation, by: .system, in: sample.application)
        #expect(read.texts == ["c", "a", "d", "e"])
        #expect(read.parts.map(\.index) == [2, 0, 3, 4])
    }

    @Test func `1.3: a creation number is never reused`() async throws {
        let (sample, conversation, message) = try await makeMessage(1)
        for number in 1...5 {
            let added = try await sample.store.addPart(
                .text("x"), to: message.id, in: conversation, by: .system, in: sample.application)
            #expect(added.object.part.index == number)
            try await sample.store.changeParts(
                .remove(.index(number)), of: message.id, in: conversation, by: .system,
                in: sample.application)
        }
    }

    @Test func `5.3: an id in use returns its part, and changes nothing`() async throws {
        let (sample, conversation, message) = try await makeMessage(1)
        let before = try await sample.rows()
        let draft = try MessagePart.Draft(
            mimeType: "a/b", body: .inline([]), proposedID: message.parts[0].id)
        let taken = try await sample.store.addPart(
            draft, to: message.id, in: conversation, by: .system, in: sample.application)
        #expect(taken == .idInUse(PartSnapshot(message: message, part: message.parts[0])))
        #expect(try await sample.rows() == before)
    }

    @Test func `5.3: part ids are unique per message only`() async throws {
        let (sample, conversation, message) = try await makeMessage(1)
        let other = try await sample.send(to: conversation).object.message
        let draft = try MessagePart.Draft(
            mimeType: "a/b", body: .inline([]), proposedID: message.parts[0].id)
        let added = try await sample.store.addPart(
            draft, to: other.id, in: conversation, by: .system, in: sample.application)
        #expect(added.object.part.id == message.parts[0].id)
    }

    @Test func `R20: a message has at most 1000 parts, and at least one`() async throws {
        let (sample, conversation, message) = try await makeMessage(999)
        _ = try await sample.store.addPart(
            .text("999"), to: message.id, in: conversation, by: .system, in: sample.application)
        await #expect(throws: Rejection.invalid("parts", .partCount, .init(amount: 1001))) {
            try await sample.store.addPart(
                .text("1000"), to: message.id, in: conversation, by: .system, in: sample.application
            )
        }
        let replacements = try (0...1000).map { number in
            PartOperation.Replacement(name: nil, draft: try .text("\(number)"))
        }
        await #expect(throws: Rejection.invalid("parts", .partCount, .init(amount: 1001))) {
            try await sample.store.changeParts(
                .replaceAll(replacements), of: message.id, in: conversation, by: .system,
                in: sample.application)
        }
        try await sample.store.changeParts(
            .replaceAll([replacements[7]]), of: message.id, in: conversation, by: .system,
            in: sample.application)
        await #expect(throws: Rejection.invalidOperation(.lastPart)) {
            try await sample.store.changeParts(
                .remove(.index(1000)), of: message.id, in: conversation, by: .system,
                in: sample.application)
        }
    }

    @Test func `R20: part ids of a message are unique, also when it is sent`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let twice = try (0..<2).map { _ in
            try MessagePart.Draft(mimeType: "a/b", body: .inline([]), proposedID: .sample(1))
        }
        await #expect(throws: Rejection.invalid("parts.id", .partIDTwice)) {
            try await sample.store.sendMessage(
                Message.Draft(sender: .user(.ana), parts: twice), to: conversation,
                in: sample.application)
        }
    }

    @Test func `R28: a rejected change leaves no trace`() async throws {
        let (sample, conversation, message) = try await makeMessage(1)
        let foreign = try await sample.upload(to: try await sample.conversation()).id
        let before = try await sample.rows()
        let foreignPart = try MessagePart.Draft(mimeType: "a/b", body: .content(foreign, size: 5))
        let refused: [(PartOperation, Rejection)] = try [
            (.replace(.index(1), .text("x")), .notFound(.messagePart)),
            (.remove(.id(.sample(9))), .notFound(.messagePart)),
            (.remove(.index(0)), .invalidOperation(.lastPart)),
            (.replaceAll([]), .invalid("parts", .partCount, .init(amount: 0))),
            (
                .replaceAll([
                    .init(name: nil, draft: .text("x")), .init(name: nil, draft: foreignPart),
                ]), .invalid("parts.content", .partContentUnknown)
            ),
            (
                .replaceAll([.init(name: .index(1), draft: .text("x"))]),
                .invalid("parts.id", .unknownPartIndex)
            ),
            (
                .replaceAll([
                    .init(name: .index(0), draft: .text("x")),
                    .init(name: .id(message.parts[0].id), draft: .text("y")),
                ]), .invalid("parts.id", .partIDTwice)
            ),
        ]
        for (operation, rejection) in refused {
            await #expect(throws: rejection) {
                try await sample.store.changeParts(
                    operation, of: message.id, in: conversation, by: .system, in: sample.application
                )
            }
        }
        #expect(try await sample.rows() == before)
    }

    @Test func `R18: parts are deleted with their message and their conversation`() async throws {
        let (sample, conversation, message) = try await makeMessage(2)
        let other = try await sample.send(to: conversation).object.message.id
        try await sample.store.deleteMessage(other, in: nil, in: sample.application)
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.changeParts(
                .remove(.index(0)), of: other, in: conversation, by: .system, in: sample.application
            )
        }
        try await sample.store.deleteConversation(conversation, in: sample.application)
        await #expect(throws: Rejection.objectDeleted) {
            try await sample.store.changeParts(
                .remove(.index(0)), of: message.id, in: conversation, by: .system,
                in: sample.application)
        }
    }

    @Test func `X4: of many changes of one version exactly one succeeds`() async throws {
        let (sample, conversation, message) = try await makeMessage(1)
        let made = try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    do {
                        try await sample.store.changeParts(
                            .replace(.index(0), .text("\(number)")), of: message.id,
                            in: conversation, by: .system, if: .one, in: sample.application)
                        return 1
                    } catch let late as VersionMismatch<MessageSnapshot> {
                        #expect(late.current.message.version == 2)
                        return 0
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(made == 1)
    }

    @Test func `R26: a change never has an earlier time than its object`() async throws {
        let (sample, conversation, message) = try await makeMessage(1)
        sample.wait(milliseconds: -60_000)
        let changed = try await sample.store.changeParts(
            .replace(.index(0), .text("x")), of: message.id, in: conversation, by: .system,
            in: sample.application)
        #expect(changed.updatedAt == message.sentAt)
    }

    @Test(.enabled(if: onSQLite)) func `parts are read and changed through their index only`()
        async throws
    {
        let sample = try await SampleApplication()
        let plans = try await sample.database.read { transaction in
            try transaction.rows(
                """
                EXPLAIN QUERY PLAN SELECT part_index, content FROM parts
                WHERE application = \(sample.application) AND message = \([UInt8]())
                    AND content IS NOT NULL
                """
            ) { row in try row.text("detail") }
        }
        #expect(plans.allSatisfy { plan in plan.contains("USING INDEX") })
    }
}

extension MessagePart.Draft {
    static func text(_ text: String) throws -> MessagePart.Draft {
        try MessagePart.Draft(mimeType: "text/plain", body: .inline(Array(text.utf8)))
    }
}

extension Message {
    /// The bodies of all parts as text.
    fileprivate var texts: [String] {
        parts.map { part in
            guard case .inline(let bytes) = part.body else { return "" }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
