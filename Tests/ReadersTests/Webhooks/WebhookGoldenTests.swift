import FoundationEssentials
import Messaging
import MessagingStore
import Testing

@testable import Readers

/// The exact bodies of each version, for a conversation with every kind of event.
@Suite struct `The golden bodies of webhooks` {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures")

    @Test(arguments: WebhookVersion.allCases)
    func `equal the rendered bodies of each version (webhooks 4)`(version: WebhookVersion)
        async throws
    {
        let file = Self.folder.appending(path: "webhooks-\(version.rawValue).jsonl")
        let golden = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let written = try await SampleHistory(version).bodies()
        #expect(written.count == golden.count)
        for (written, golden) in zip(written, golden) { #expect(written == golden) }
    }
}

/// A conversation with every kind of event and readable names for all ids.
private struct SampleHistory {
    private let sample: SampleApplication
    private let version: WebhookVersion
    private let ana: UserID
    private let bo: UserID
    private let cy: UserID
    private let conversation: Conversation.ID
    private let message: Message.ID
    private let last: Message.ID
    private let parts: [MessagePart.ID]

    init(_ version: WebhookVersion) async throws {
        sample = try await SampleApplication()
        self.version = version
        (ana, bo, cy) = try (
            #require(UserID("ana")), #require(UserID("bo")), #require(UserID("cy"))
        )
        conversation = try #require(Conversation.ID(uuid: "0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"))
        message = try #require(Message.ID(uuid: "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d"))
        last = try #require(Message.ID(uuid: "b2e5d3c7-1a2b-4c3d-8e4f-5a6b7c8d9e0f"))
        parts = try (1...4).map { number in
            try #require(MessagePart.ID(uuid: "5e8d7c6b-4a39-4821-b7f6-0c9d8e7f6a\(50 + number)"))
        }
    }

    /// The bodies in the order of the events, each rendered directly after its event.
    func bodies() async throws -> [String] {
        var bodies: [String] = []
        for action in actions {
            let end = try await sample.store.logExtent(in: sample.application).end
            try await action(sample.store, sample.application)
            let range = try await sample.store.webhookEvents(
                after: WebhookCheckpoint(after: end),
                to: [version: Set(WebhookTopic.all(in: version))],
                limit: 100, in: sample.application)
            bodies += range.events.map { event in
                named(
                    String(
                        decoding: sample.renderer.body(of: event, in: sample.application),
                        as: UTF8.self))
            }
        }
        return bodies
    }

    /// A body with fixed names instead of random values.
    private func named(_ body: String) -> String {
        body.replacing(sample.application.uuid, with: "{app}")
            .replacing(/"download_url":"[^"]*"/, with: #""download_url":"{signed}""#)
            .replacing(/"id":"([0-9a-f-]{36})"/) { found in
                [message.uuid, last.uuid].contains(String(found.1))
                    ? String(found.0) : #""id":"{event}""#
            }
    }

    private typealias Action = @Sendable (MessagingStore, Application.ID) async throws -> Void

    private var actions: [Action] { creations + changes + deletions + merge }

    private var creations: [Action] {
        let (ana, bo, conversation, message, parts) = (ana, bo, conversation, message, parts)
        let now = sample.now
        return [
            { store, application in
                _ = try await store.createIdentity(
                    Identity(userID: ana, displayName: "Ana"), in: application)
            },
            { store, application in
                _ = try await store.acting(as: .user(ana)).createConversation(
                    Conversation.Draft(
                        participants: [ana, bo], isDistinct: false,
                        metadata: ["b": "1", "10": "2", "2": ["y": "3", "0": "é/\n"]],
                        proposedID: conversation), key: nil, in: application)
            },
            { store, application in
                let content = try #require(
                    Content.ID(uuid: "9b8a7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d"))
                try await store.finishUpload(
                    Content(
                        id: content, conversation: conversation, mimeType: "image/png", size: 5,
                        fileName: "cat.png", sha256: [1], crc32c: 1, md5: nil, sha512: nil,
                        completedAt: now, origin: nil), in: application)
                _ = try await store.sendMessage(
                    Message.Draft(
                        sender: .user(ana),
                        parts: [
                            MessagePart.Draft(
                                mimeType: "text/plain", body: .inline(Array("hi".utf8)),
                                proposedID: parts[0]),
                            MessagePart.Draft(
                                mimeType: "image/png", body: .content(content, size: 5),
                                proposedID: parts[1]),
                        ], proposedID: message), to: conversation, key: nil, in: application)
            },
            { store, application in
                try await store.recordReceipt(.delivery, of: message, by: bo, in: application)
            },
            { store, application in
                try await store.recordReceipt(.read, of: message, by: bo, in: application)
            },
        ]
    }

    private var changes: [Action] {
        let (ana, bo, cy, conversation, message, parts) = (
            ana, bo, cy, conversation, message, parts
        )
        return [
            { store, application in
                let part = try MessagePart.Draft(
                    mimeType: "a/b", body: .inline([0xFF]), proposedID: parts[2])
                _ = try await store.acting(as: .user(ana)).addPart(
                    part, to: message, in: conversation, by: .system, in: application)
            },
            { store, application in
                let part = try MessagePart.Draft(
                    mimeType: "text/plain", body: .inline(Array("ho".utf8)))
                _ = try await store.acting(as: .user(ana)).changeParts(
                    .replace(.id(parts[0]), part), of: message, in: conversation, by: .system,
                    in: application)
            },
            { store, application in
                _ = try await store.changeParts(
                    .remove(.id(parts[1])), of: message, in: conversation, by: .system,
                    in: application)
            },
            { store, application in
                _ = try await store.acting(as: .user(ana)).patchConversation(
                    conversation, [.addParticipant(cy), .removeParticipant(bo)], in: application)
            },
            { store, application in
                _ = try await store.patchConversation(
                    conversation, [.deleteMetadata(path: ["2"])], in: application)
            },
        ]
    }

    /// Creates two conversations and merges them.
    private var merge: [Action] {
        let (ana, bo, now) = (ana, bo, sample.now)
        return ["1d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a", "2d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"]
            .map { name in
                { store, application in
                    let id = try #require(Conversation.ID(uuid: name))
                    try await store.addDistinctConversation(
                        Conversation(
                            id: id, createdAt: now, participants: Participants([ana, bo]),
                            isDistinct: true, metadata: Metadata(["from": .text(name)], at: now),
                            isAnnounced: true), in: application)
                    try await store.reconcile(id, in: application)
                }
            }
    }

    private var deletions: [Action] {
        let (conversation, message, last, part) = (conversation, message, last, parts[3])
        return [
            { store, application in
                try await store.deleteMessage(message, in: nil, in: application)
            },
            { store, application in
                _ = try await store.sendMessage(
                    Message.Draft(
                        sender: .service("Billing"),
                        parts: [
                            MessagePart.Draft(
                                mimeType: "a/b", body: .inline([]), proposedID: part)
                        ], proposedID: last), to: conversation, key: nil, in: application)
            },
            { store, application in
                try await store.deleteConversation(conversation, in: application)
            },
        ]
    }
}
