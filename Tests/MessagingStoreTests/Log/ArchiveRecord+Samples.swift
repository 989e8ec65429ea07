import Messaging

@testable import MessagingStore

extension ArchiveRecord {
    /// One of each kind, with every member set.
    static let samples: [ArchiveRecord] = [
        .application(Application(id: .sample(1), name: "Shop", createdAt: .sample)),
        .user(
            ArchivedUser(
                User(
                    identity: Identity(userID: .ana, displayName: "Ana", metadata: ["a": "b"]),
                    identityStatus: .provided, identityVersion: 7, isSuspended: true,
                    sessionsEndedAt: .sample), externalUnreadCount: 3, createdAt: .sample)),
        .relations(ArchivedRelations(.ana, followed: [.bo, .cy], blocked: [.cy])),
        .conversation(
            ArchivedConversation(
                Conversation(
                    id: .sample(3), createdAt: .sample, participants: Participants([.bo]),
                    isDistinct: true, metadata: Metadata(["a": ["b": "c"]], at: .sample),
                    isAnnounced: false, lastPosition: Position(9), lastSentAt: .sample, version: 4),
                aliases: [.sample(4), .sample(5)],
                members: [
                    ArchivedParticipant(
                        Participant(
                            userID: .bo, past: IntervalSet(2...3), joinedAfter: Position(5),
                            state: .cleared, clearedTo: Position(6)),
                        place: 0, shownFrom: Position(7), hidden: IntervalSet(8...8),
                        receipts: Receipts(delivered: IntervalSet(1...7), read: IntervalSet(2...3))
                    ),
                    ArchivedParticipant(
                        Participant(userID: .cy, leftAfter: Position(4)), place: 1,
                        frozenMetadata: Metadata(["a": "b"], at: .sample)),
                ])),
        .message(
            ArchivedMessage(
                Message(
                    id: .sample(5), conversation: .sample(3), position: Position(8),
                    sender: .named("Billing"), sentAt: .sample,
                    parts: [
                        MessagePart(
                            id: .sample(6), index: 0, mimeType: "a/b", body: .inline([0, 255])),
                        MessagePart(
                            id: .sample(7), index: 2, mimeType: "c/d",
                            body: .content(.sample(8), size: 12), updatedAt: .sample),
                    ], updatedAt: .sample, version: 2),
                partsMade: 3, places: [1, nil], contents: [content])),
        .content(content),
        .scheduled(ArchivedScheduledMessage(.sample, contents: [content])),
        .announcement(
            ArchivedAnnouncement(
                Announcement(
                    id: .sample(10), sender: .user(.ana), sentAt: .sample,
                    parts: [
                        MessagePart(id: .sample(11), index: 0, mimeType: "a/b", body: .inline([1]))
                    ]),
                recipients: [
                    .init(.bo, status: .delivered, deletedAt: .sample), .init(.cy, status: .sent),
                ])),
        .key(ArchivedReplayKey(.match, .sample(12), object: .sample(3))),
    ]

    private static let content = ArchivedContent(
        Content(
            id: .sample(8), conversation: .sample(3), mimeType: "c/d", size: 12, fileName: "é",
            sha256: [9], crc32c: .max, md5: [8], sha512: [7], completedAt: .sample,
            origin: "https://x"),
        owner: .ana)
}

extension ScheduledMessage {
    /// A sample with every member set.
    static let sample: ScheduledMessage = {
        do {
            return ScheduledMessage(
                id: .sample(15), conversation: .sample(3),
                draft: try Message.Draft(
                    sender: .user(.ana), admission: .identities, senderProperty: "sender_id",
                    parts: [
                        MessagePart.Draft(
                            mimeType: "a/b", body: .inline([0, 255]), proposedID: .sample(17)),
                        MessagePart.Draft(
                            mimeType: "c/d", body: .content(.sample(8), size: .max)),
                    ], notification: Array("{}".utf8), proposedID: .sample(15)),
                dueAt: .sample, typingFrom: .sample)
        } catch {
            fatalError("the sample is valid")
        }
    }()
}

extension Timestamp {
    static let sample = Timestamp(milliseconds: 1_772_356_530_042)
}
