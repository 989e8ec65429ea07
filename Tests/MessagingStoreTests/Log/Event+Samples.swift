import Messaging

@testable import MessagingStore

extension Event {
    /// One of each kind.
    static let samples: [Event] =
        [
            .applicationCreated(
                ApplicationCreated(
                    application: Application(
                        id: .sample(1), name: "Shop", createdAt: .sample, isSuspended: true))),
            .applicationRenamed(ApplicationRenamed(application: .sample(1), name: "Market")),
            .applicationSuspended(ApplicationSuspended(application: .sample(1), isSuspended: true)),
            .tokenCreated(
                TokenCreated(
                    token: Token(
                        id: .sample(2), name: "build", application: .sample(1), scope: .admin,
                        createdAt: .sample, expiresAt: .sample), digest: [1, 2, 3])),
            .tokenRevoked(TokenRevoked(token: .sample(2), at: .sample)),
            .providerCreated(
                ProviderCreated(
                    provider: Provider(id: .sample(30), name: "Login", createdAt: .sample))),
            .providerKeyCreated(
                ProviderKeyCreated(
                    key: ProviderKey(
                        id: .sample(31), provider: .sample(30), algorithm: .edDSA, der: [1, 2],
                        createdAt: .sample))),
            .providerKeyUpdated(ProviderKeyUpdated(key: .sample(31), isDisabled: true)),
            .providerKeyDeleted(ProviderKeyDeleted(key: .sample(31), at: .sample)),
            .providerDeleted(ProviderDeleted(provider: .sample(30), at: .sample)),
            .sessionCreated(
                SessionCreated(
                    session: Session(
                        id: .sample(32), user: .ana, createdAt: .sample, expiresAt: .sample,
                        lastUsedAt: .sample, userAgent: "Browser"), digest: [1, 2, 3])),
            .sessionEnded(SessionEnded(session: .sample(32), user: .ana)),
            .conversationCreated(
                ConversationCreated(
                    conversation: Conversation(
                        id: .sample(3), createdAt: .sample,
                        participants: Participants([.bo, .ana]),
                        isDistinct: true,
                        metadata: Metadata(["a": ["b": "c", "d": [:]]], at: .sample),
                        deletedAt: .sample, lastPosition: Position(7), lastSentAt: .sample,
                        messageCount: 5, version: 3), key: .sample(4))),
            .conversationMatched(
                ConversationMatched(conversation: .sample(3), key: .sample(4), alias: nil)),
            .conversationMerged(
                ConversationMerged(
                    winner: .sample(3), loser: .sample(4), aliases: [.sample(4), .sample(18)],
                    metadata: Metadata(["a": "b"], at: .sample), isAnnounced: true,
                    lastPosition: Position(300), unsortedFrom: .sample,
                    relocations: [
                        Relocation(
                            conversation: .sample(3), from: Position(1), through: Position(8),
                            to: Position(1)),
                        Relocation(
                            conversation: .sample(4), from: Position(2), through: Position(2),
                            to: Position(9)),
                    ],
                    views: [
                        ConversationMerged.View(
                            .ana,
                            MergeableView(
                                state: .cleared, clearedTo: Position(2), hidden: IntervalSet(4...9),
                                receipts: Receipts(
                                    delivered: IntervalSet(3...6), read: IntervalSet(5...5))))
                    ], at: .sample)),
            .conversationShown(
                ConversationShown(conversation: .sample(3), users: [.ana, .cy], at: .sample)),
            .conversationAnnounced(ConversationAnnounced(conversation: .sample(3), at: .sample)),
            .conversationHidden(
                ConversationHidden(
                    conversation: .sample(3), user: .ana, upTo: Position(7), at: .sample)),
            .messageHidden(
                MessageHidden(
                    message: .sample(5), conversation: .sample(3), position: Position(8), user: .bo,
                    at: .sample)),
            .messageErased(
                MessageErased(
                    message: .sample(5), conversation: .sample(3), sender: .erased(1), at: .sample)),
            .participantErased(
                ParticipantErased(conversation: .sample(3), user: .erased(1), at: .sample)),
            .announcementErased(
                AnnouncementErased(announcement: .sample(6), sender: .erased(1), at: .sample)),
            .participantsChanged(
                ParticipantsChanged(
                    conversation: .sample(3), participants: Participants([.cy]), added: [.cy],
                    removed: [.ana, .bo], after: Position(300), at: .sample)),
            .metadataChanged(
                MetadataChanged(
                    conversation: .sample(3),
                    writes: Metadata(writes: [(["a"], MetadataWrite(.deleted, at: .sample))]),
                    at: .sample)),
            .messageSent(
                MessageSent(
                    message: Message(
                        id: .sample(5), conversation: .sample(3), position: Position(8),
                        sender: .named("Billing"), sentAt: .sample,
                        parts: [
                            MessagePart(
                                id: .sample(6), index: 0, mimeType: "a/b", body: .inline([0, 255])),
                            MessagePart(
                                id: .sample(7), index: 1, mimeType: "c/d",
                                body: .content(.sample(8), size: .max), updatedAt: .sample),
                        ]), notification: Array("{}".utf8), key: .sample(9))),
            .messageDeleted(
                MessageDeleted(
                    message: Message(
                        id: .sample(5), conversation: .sample(3), position: Position(8),
                        sender: .user(.ana), sentAt: .sample,
                        parts: [
                            MessagePart(
                                id: .sample(6), index: 0, mimeType: "a/b", body: .inline([7]))
                        ], updatedAt: .sample, version: 2),
                    recipients: [
                        MessageDeleted.Recipient(user: .ana, status: .read),
                        MessageDeleted.Recipient(user: .bo, status: .sent),
                    ], at: .sample)),
            .conversationDeleted(
                ConversationDeleted(
                    conversation: Conversation(
                        id: .sample(3), createdAt: .sample,
                        participants: Participants([.ana, .bo]),
                        isDistinct: true,
                        metadata: Metadata(writes: [(["a"], MetadataWrite(.text("b"), at: .sample))]
                        ),
                        lastPosition: Position(4), messageCount: 3, version: 5),
                    at: .sample)),
            .receiptsRecorded(
                ReceiptsRecorded(
                    conversation: .sample(3), user: .bo, kind: .delivery,
                    positions: IntervalSet([1...5, 7...7]), at: .sample)),
            .receiptsRecorded(
                ReceiptsRecorded(
                    conversation: .sample(3), user: .bo, kind: .read,
                    positions: IntervalSet(2...3), at: .sample)),
            .contentUploaded(
                ContentUploaded(
                    content: Content(
                        id: .sample(8), conversation: nil, mimeType: "a/b", size: 0, fileName: "é",
                        sha256: [9], crc32c: .max, md5: [8], sha512: nil, completedAt: .sample,
                        origin: "https://x"))),
            .contentUploaded(
                ContentUploaded(
                    content: Content(
                        id: .sample(8), conversation: nil, mimeType: "a/b", size: 0, fileName: nil,
                        sha256: [9], crc32c: 0, md5: nil, sha512: [7], completedAt: .sample,
                        origin: nil))),
            .contentWithdrawn(ContentWithdrawn(content: .sample(8))),
            .exportKeyChanged(ExportKeyChanged(key: ExportKey(pem: "-----", der: [1, 2]))),
            .exportRequested(
                ExportRequested(
                    export: Export(
                        id: .sample(9), scope: .historical, publicKey: [1], createdAt: .sample),
                    schedule: nil)),
            .exportRequested(
                ExportRequested(
                    export: Export(
                        id: .sample(9),
                        scope: .scheduled(
                            Export.Period(
                                after: LogPosition(3), through: LogPosition(400),
                                topics: [.messageSent, .conversationDeleted])),
                        publicKey: [1], createdAt: .sample),
                    schedule: ExportSchedule(
                        interval: .daily, topics: [.messageSent], position: LogPosition(400),
                        nextAt: .sample, lastAt: .sample, last: .sample(9)))),
            .exportStarted(ExportStarted(export: .sample(9), at: .sample)),
            .exportCompleted(
                ExportCompleted(
                    export: .sample(9),
                    archive: Export.Archive(
                        size: .max, sha256: [1], crc32c: .max, encryptedKey: [2], initialVector: [3]
                    ),
                    at: .sample)),
            .exportDeleted(ExportDeleted(export: .sample(9), at: .sample)),
            .exportExpired(ExportExpired(export: .sample(9), at: .sample)),
            .exportErased(ExportErased(export: .sample(9))),
            .exportScheduleChanged(ExportScheduleChanged(schedule: .none)),
            .blocksChanged(
                BlocksChanged(owner: .ana, added: [.bo, .cy], removed: [.ana], at: .sample)),
            .announcementSent(
                AnnouncementSent(
                    announcement: Announcement(
                        id: .sample(10), sender: .user(.ana), sentAt: .sample,
                        parts: [
                            MessagePart(
                                id: .sample(11), index: 0, mimeType: "a/b", body: .inline([0, 255]))
                        ]), recipients: [.bo, .cy], notification: Array("{}".utf8), key: .sample(12)
                )),
            .announcementReceived(
                AnnouncementReceived(
                    announcement: .sample(10), user: .bo, kind: .read, at: .sample)),
            .announcementDeleted(
                AnnouncementDeleted(announcement: .sample(10), user: .cy, at: .sample)),
            .messageScheduled(
                MessageScheduled(message: .sample, key: .sample(14))),
            .scheduleEnded(ScheduleEnded(message: .sample(15), isSent: true, at: .sample)),
            .batchAccepted(BatchAccepted(key: .sample(16), conversation: .sample(3))),
            .contentOwned(ContentOwned(content: .sample(8), owner: .ana)),
            .contentsErased(ContentsErased(contents: [.sample(8), .sample(9)])),
            .notificationSent(
                NotificationSent(
                    recipients: [.ana], notification: Array("{}".utf8), key: .sample(13),
                    at: .sample)),
            .partsChanged(
                PartsChanged(
                    message: .sample(5), conversation: .sample(3),
                    created: [
                        MessagePart(
                            id: .sample(6), index: 2, mimeType: "a/b", body: .inline([255]),
                            updatedAt: .sample)
                    ],
                    updated: [
                        MessagePart(
                            id: .sample(7), index: 1, mimeType: "c/d",
                            body: .content(.sample(8), size: 9), updatedAt: .sample)
                    ],
                    removed: [PartsChanged.Removed(id: .sample(10), index: 0)], order: [2, 1],
                    partsMade: 3,
                    at: .sample)),
            .identityReplaced(
                IdentityReplaced(
                    identity: Identity(
                        userID: .ana, displayName: "Ana", avatarURL: "", kind: .bot,
                        metadata: ["b": "é", "a": ""]))),
            .identityPatched(
                IdentityPatched(
                    user: .ana,
                    patches: [
                        .set(.publicKey, "key"), .setKind(.user), .setMetadata(["a": "b"]),
                        .setMetadataKey("c", ""), .deleteMetadataKey("a"),
                    ])),
            .identityDeleted(IdentityDeleted(user: .ana)),
            .followingChanged(FollowingChanged(follower: .ana, added: [.bo], removed: [.cy])),
            .badgeSet(BadgeSet(user: .ana, externalUnreadCount: .max)),
            .userSuspended(UserSuspended(user: .ana, isSuspended: true, at: .sample)),
            .sessionsEnded(SessionsEnded(user: .ana, at: .sample)),
            .sessionLifetimeSet(SessionLifetimeSet(seconds: 3600)),
            .webhookCreated(WebhookCreated(webhook: .sample(.unverified))),
            .webhookUpdated(WebhookUpdated(webhook: .sample(.active(since: LogPosition(300))))),
            .webhookUpdated(
                WebhookUpdated(webhook: .sample(.inactive(reason: "Delivery failed: 410 Gone")))),
            .webhookSecretRotated(
                WebhookSecretRotated(
                    webhook:
                        .sample(.unverified, config: [Webhook.Setting(name: "é", value: "")]),
                    formerUntil: .sample)),
            .webhookDeleted(WebhookDeleted(webhook: .sample(.unverified, config: []))),
        ] + ArchiveRecord.samples.map { record in .recordImported(RecordImported(record: record)) }
}

extension WebhookSummary {
    fileprivate static func sample(
        _ status: Webhook.Status, config: [Webhook.Setting]? = nil
    ) -> WebhookSummary {
        WebhookSummary(
            id: .sample(20), payloadVersion: .v3_0, target: "https://hooks.example.org/in",
            topics: [.messageSent, .conversationDeleted], config: config, status: status,
            createdAt: .sample)
    }
}
