import SQL
import TestSupport
import Testing

@testable import ParleyKit

/// Devices that work offline, are cut off and closed at random, and a server that is killed: in the end all devices of a user
/// show the same, and the same as a new device. No message is lost or twice there.
@Suite struct ConvergenceTests {
    @Test(arguments: TestRounds.seeds(3, of: 40))
    func `all devices of a user end equal (K23, K57)`(_ seed: UInt64) async throws {
        let server = try KitServer()
        var random = SeededGenerator(seed)
        let users: [UserID] = ["ana", "bo", "cy"]
        var devices: [Device] = []
        for user in users {
            for name in ["phone", "tablet"] {
                let client = try await server.client(user, device: name)
                client.connect()
                devices.append(Device(user: user, name: name, client: client))
            }
        }
        var history = SentHistory()
        for step in 0..<200 {
            let index = Int.random(in: devices.indices, using: &random)
            if step % 50 == 49 {
                server.kill()
                server.start()
            }
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<8: await devices[index].client.disconnect()
            case 8..<20: devices[index].client.connect()
            case 20..<24:
                await devices[index].client.close()
                devices[index].client = try await openClient(
                    server.configuration(devices[index].user, device: devices[index].name))
            default:
                try await devices[index].act(step, users, &random, &history)
            }
        }
        for device in devices { device.client.connect() }
        try await eventually("all outboxes are empty", within: .seconds(120)) {
            for device in devices {
                device.client.kick()
                history.mayBeLost.formUnion(try await device.client.discardFailed())
                guard device.client.connection == .live,
                    try await device.client.rowCount(of: "outbox") == 0
                else { return false }
            }
            return true
        } explain: {
            var text = ""
            for device in devices {
                text += "\n\(device.user) \(device.name) \(device.client.connection) "
                text += try await device.client.outbox().joined(separator: "; ")
            }
            return text + "\n" + server.log.text
        }
        for device in devices { history.aliases += try await device.client.aliases() }
        var compared = 0
        for user in users {
            let fresh = try await server.client(user, device: "fresh")
            fresh.connect()
            let others = devices.filter { $0.user == user }.map(\.client)
            try await eventually("\(user)'s devices show the same", within: .seconds(120)) {
                let expected = try await fresh.everything()
                guard fresh.connection == .live else { return false }
                for other in others where try await other.everything() != expected { return false }
                return true
            } explain: {
                let expected = try await fresh.everything()
                var text = ""
                for other in others {
                    text += try await difference(expected, other.everything())
                }
                return text
            }
            #expect(try await fresh.everything().count > 3)
            var texts: [String] = []
            for conversation in try await fresh.conversations() {
                texts += try await fresh.texts(in: conversation.id)
            }
            #expect(Set(texts).count == texts.count, "a message is twice there")
            #expect(Set(texts).isSubset(of: history.conversations.keys))
            let expected = history.expectedTexts(of: user)
            compared += expected.count
            let lost = expected.subtracting(texts)
            #expect(lost.isEmpty, "\(user) has lost what was sent")
            await fresh.close()
        }
        #expect(compared > 5)
        for device in devices { await device.client.close() }
    }

    /// The first lines that differ.
    private func difference(_ expected: [String], _ found: [String]) -> String {
        let missing = expected.filter { !found.contains($0) }.prefix(3)
        let extra = found.filter { !expected.contains($0) }.prefix(3)
        return
            "\nfresh only: \(missing.joined(separator: "\n  "))\ndevice only: \(extra.joined(separator: "\n  "))"
    }
}

/// What devices have sent, and what of it need not be there in the end.
private struct SentHistory {
    /// The conversation of each text, under the id that it had when it was sent.
    var conversations: [String: Conversation.ID] = [:]
    /// Messages that were deleted, or dropped before they were sent.
    var mayBeLost: Set<String> = []
    /// The conversations that users have deleted or left.
    var deletions: [(user: UserID, id: Conversation.ID, isForAll: Bool)] = []
    /// Conversations that were merged, each with the remaining one.
    var aliases: [(Conversation.ID, Conversation.ID)] = []

    /// The texts that a user has sent and must have: those that no user has deleted.
    func expectedTexts(of user: UserID) -> Set<String> {
        var gone = Set(deletions.filter { $0.isForAll || $0.user == user }.map(\.id))
        // Those that were merged with one of them are deleted with it.
        var count = 0
        while gone.count > count {
            count = gone.count
            for (one, other) in aliases where gone.contains(one) || gone.contains(other) {
                gone.formUnion([one, other])
            }
        }
        return Set(
            conversations.filter { text, id in
                text.hasPrefix("\(user)-") && !gone.contains(id) && !mayBeLost.contains(text)
            }.keys)
    }
}

private struct Device {
    let user: UserID
    let name: String
    var client: ParleyClient

    /// Does something at random.
    func act(
        _ step: Int, _ users: [UserID], _ random: inout SeededGenerator,
        _ history: inout SentHistory
    ) async throws {
        let conversations = try await client.conversations()
        let conversation = conversations.randomElement(using: &random)
        let others = Set(users.filter { _ in Bool.random(using: &random) })
        do {
            switch Int.random(in: 0..<26, using: &random) {
            case 0..<2:
                try await client.newConversation(
                    with: others,
                    ConversationOptions(isDistinct: Int.random(in: 0..<4, using: &random) > 0))
            case 2..<11:
                guard let conversation else { return }
                let text = "\(user)-\(name)-\(step)"
                try await client.send([.text(text)], to: conversation.id)
                history.conversations[text] = conversation.id
            case 11..<13:
                guard let conversation else { return }
                let messages = try await client.messages(in: conversation.id)
                try await client.markAsRead(
                    Set(messages.map(\.id).filter { _ in Bool.random(using: &random) }))
            case 13:
                guard let conversation else { return }
                try await client.markAllAsRead(in: conversation.id)
            case 14..<16:
                guard let conversation else { return }
                let path: MetadataPath =
                    ["a", "a.b", "c", "d.e.f"].randomElement(using: &random) ?? "a"
                try await client.setMetadata(.text("\(step)"), at: path, of: conversation.id)
            case 16:
                guard let conversation else { return }
                try await client.deleteMetadata(at: ["a", "c"], of: conversation.id)
            case 17:
                guard let conversation else { return }
                try await client.add(others, to: conversation.id)
            case 18:
                guard let conversation,
                    let message = try await client.messages(in: conversation.id)
                        .randomElement(using: &random)
                else { return }
                history.mayBeLost.insert(message.parts.first?.text ?? "")
                try await client.delete(
                    message.id, Bool.random(using: &random) ? .myDevices : .allParticipants)
            case 19:
                guard let conversation else { return }
                try await client.remove(others, from: conversation.id)
            case 20:
                try await client.follow(others)
            case 21:
                try await client.unfollow(others)
            case 22:
                guard let conversation else { return }
                try await client.setMetadata(
                    ["a": .text("\(step)"), "e": ["f": .text("\(step)")]],
                    merge: Bool.random(using: &random),
                    of: conversation.id)
            case 23:
                guard let message = try await client.failed().randomElement(using: &random) else {
                    return
                }
                try await client.retry(message.id)
            case 24:
                guard let conversation, step % 2 == 0 else { return }
                try await drop(conversation.id, isForAll: false, &history) { id in
                    try await client.leave(id)
                }
            default:
                guard let conversation, step % 2 == 0 else { return }
                let isForAll = step % 4 == 0
                try await drop(conversation.id, isForAll: isForAll, &history) { id in
                    try await client.delete(id, isForAll ? .allParticipants : .myDevices)
                }
            }
        } catch let error as ParleyError where !error.isTransient {
            // A command that is refused on this device changes nothing.
        }
    }

    /// Deletes a conversation; what waits in it is dropped.
    private func drop(
        _ id: Conversation.ID, isForAll: Bool, _ history: inout SentHistory,
        _ delete: (Conversation.ID) async throws -> Void
    ) async throws {
        let unsent = try await client.messages(in: id).filter { !$0.isSent }
        try await delete(id)
        history.deletions.append((user, id, isForAll))
        history.mayBeLost.formUnion(unsent.compactMap { $0.parts.first?.text })
    }
}

extension ParleyClient {
    /// Discards the messages that the server has refused, and returns their texts.
    fileprivate func discardFailed() async throws -> [String] {
        let messages = try await failed()
        for message in messages { try await discard(message.id) }
        return messages.compactMap { $0.parts.first?.text }
    }

    /// The messages that the server has refused.
    fileprivate func failed() async throws -> [Message] {
        let unsent = try await read { reader in
            let ids = try reader.transaction.rows("SELECT id FROM messages WHERE is_sent = 0") {
                row in
                Message.ID(stored: try row.blob("id"))
            }
            return try ids.compactMap(\.self).compactMap { id in try reader.message(id) }
        }
        return unsent.filter { message in
            if case .failed = message.delivery { true } else { false }
        }
    }

    /// The conversations that were merged, each with the remaining one.
    fileprivate func aliases() async throws -> [(Conversation.ID, Conversation.ID)] {
        try await read { reader in
            try reader.transaction.rows(
                "/* test */ SELECT former, conversation FROM aliases"
            ) { row in
                (
                    Conversation.ID(stored: try row.blob("former")),
                    Conversation.ID(stored: try row.blob("conversation"))
                )
            }
        }.compactMap { former, id in
            guard let former, let id else { return nil }
            return (former, id)
        }
    }

    /// The rows of the outbox.
    func outbox() async throws -> [String] {
        try await read { reader in
            try reader.transaction.rows(
                """
                /* test */ SELECT number, lane, kind, sent_at, answered_epoch, answered_position, failure,
                    (SELECT value FROM settings WHERE name = 'cursor') AS cursor FROM outbox
                """
            ) { row in
                """
                \(try row.int("number")) \(try row.text("lane")) \(try row.text("kind")) \(try row.optionalInt64("sent_at") ?? -1) \
                \(try row.optionalText("answered_epoch") ?? "-") \(try row.optionalInt64("answered_position") ?? -1) \
                \(try row.optionalText("failure") ?? "-") cursor \(try row.optionalText("cursor") ?? "-")
                """
            }
        }
    }

    /// Everything that the client shows, one line for each object.
    fileprivate func everything() async throws -> [String] {
        var lines: [String] = []
        for conversation in try await conversations() {
            lines.append(
                """
                \(conversation.id) \(conversation.participants.map(\.id)) \(conversation.isDistinct) \
                \(conversation.metadata.leaves.sorted { $0.key < $1.key }) unread \(conversation.unreadCount) \
                total \(conversation.totalCount) \(conversation.isParticipant) \
                last \(conversation.lastMessage?.id.description ?? "-") former \(conversation.formerIDs.count)
                """)
            for message in try await messages(in: conversation.id) {
                let status = message.recipientStatus.sorted { $0.key < $1.key }
                    .map { "\($0.key):\($0.value)" }
                lines.append(
                    """
                    \(conversation.id) \(message.position ?? -1) \(message.id) \
                    \(message.parts.map { $0.text ?? "" }) unread \(message.isUnread) \(status) \(message.delivery)
                    """)
            }
        }
        let followed = try await fetch(Query<Identity>(where: { $0.isFollowed == true }))
        return lines.sorted() + followed.map { identity in "follows \(identity.id)" }.sorted()
    }
}
