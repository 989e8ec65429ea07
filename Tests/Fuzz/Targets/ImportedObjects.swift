import JSON
import Messaging
import MessagingWire

/// Imported objects: their JSON in responses, and the effect of later requests on them.
enum ImportedObjects {
    static func check(_ input: [UInt8]) {
        for bytes in input.split(separator: UInt8(ascii: "\n")) {
            guard
                case .record(let record) = try? ArchiveLineJSON.read(
                    Array(bytes), limits)
            else {
                continue
            }
            switch record {
            case .user(let archived): check(archived.user)
            case .conversation(let archived): check(archived)
            case .message(let archived): check(archived.message)
            case .scheduled(let archived): check(archived.message)
            case .announcement(let archived): check(archived)
            case .application, .relations, .content, .key: break
            }
        }
    }

    // MARK: - Objects

    private static func check(_ user: User) {
        let links = LinkBuilder(publicBase: base, application: application)
        expectJSON(UserJSON.bytes(user, links))
    }

    private static func check(_ message: Message) {
        let sender = message.sender.userID.map { BasicIdentity(userID: $0) }
        let reader =
            UserID("reader").map { [MessageSnapshot.Recipient(userID: $0, status: .sent)] } ?? []
        for presentation in presentations(of: message.sender.userID) {
            for isJustSent in [false, true] {
                var writer = JSONWriter()
                MessageJSON(
                    MessageSnapshot(
                        message: message, sender: sender, recipients: reader, isUnread: true,
                        receivedAt: message.sentAt)
                ).write(presentation, isJustSent: isJustSent, into: &writer)
                expectJSON(writer.finish())
            }
            var writer = JSONWriter()
            MessagePartsJSON.write(message.parts, of: message, presentation, into: &writer)
            expectJSON(writer.finish())
        }
        invariant("no size is negative", message.weight >= 0 && message.transfer.bytes >= 0)
    }

    private static func check(_ archived: ArchivedConversation) {
        let conversation = archived.conversation
        for presentation in presentations(of: conversation.participants.users.first) {
            var writer = JSONWriter()
            ConversationJSON(
                id: conversation.id, createdAt: conversation.createdAt,
                participants: conversation.participants.users.map { BasicIdentity(userID: $0) },
                participantCount: conversation.participantCount,
                isDistinct: conversation.isDistinct, metadata: conversation.metadata.view,
                userView: ConversationJSON.UserView(
                    lastMessage: nil, unreadCount: 0, totalCount: conversation.messageCount)
            ).write(presentation, into: &writer)
            expectJSON(writer.finish())
        }
        let last = conversation.lastPosition
        for member in archived.members { check(member, upTo: last) }
        _ = archived.recipients(at: last)
        // What later requests of clients do.
        let (now, patch) = (
            Timestamp(milliseconds: 0),
            ConversationPatch.setMetadata(path: ["a"], .text("later"))
        )
        _ = try? conversation.patching([patch], limits, at: now)
        if let draft = try? draft, let id = Message.ID(uuid: uuid),
            case .messageSent(let sent) = try? conversation.posting(
                draft, hasIdentity: true, contents: [:], limits, as: id,
                partIDs: { _ in MessagePart.ID(id) }, at: now)
        {
            invariant("a new message has the highest position", sent.message.position > last)
            check(sent.message)
        }
    }

    private static func check(_ member: ArchivedParticipant, upTo last: Position) {
        let participant = member.participant
        for view in [
            participant, participant.leaving(after: last), participant.returning(after: last),
        ] {
            _ = (view.sees(last), view.wasPresent(at: last))
            let stay = view.stay(upTo: last).union(view.range(upTo: last)).union(view.past)
            invariant("a number of positions is not negative", stay.count >= 0)
            let read = member.receipts.recording(.read, of: stay)
            invariant("a receipt is not lost", stay.isEmpty || read.read.count >= stay.count)
        }
        _ = member.fromTheBeginning
        _ = member.hidden.count
    }

    private static func check(_ scheduled: ScheduledMessage) {
        var writer = JSONWriter()
        writer.array { writer in
            for moment in [scheduled.dueAt, scheduled.typingFrom].compactMap(\.self) {
                writer.string(TimestampJSON.text(moment))
            }
        }
        expectJSON(writer.finish())
    }

    private static func check(_ archived: ArchivedAnnouncement) {
        let users = archived.recipients.map(\.user)
        var views = archived.recipients.map { recipient in
            AnnouncementJSON.VisibleRecipients.viewer(recipient.user, recipient.status)
        }
        views.append(.all(users))
        for presentation in presentations(of: users.first) {
            for view in views.prefix(3) {
                var writer = JSONWriter()
                AnnouncementJSON(
                    archived.announcement,
                    sender: archived.announcement.sender.userID.map { BasicIdentity(userID: $0) },
                    recipients: view
                ).write(presentation, into: &writer)
                expectJSON(writer.finish())
            }
        }
    }

    // MARK: - Values

    private static let (base, uuid) = (
        "https://chat.example.com", "0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"
    )

    private static let limits = MessagingLimits()

    private static var application: Application.ID {
        guard let id = Application.ID(uuid: uuid) else { fatalError("no UUID") }
        return id
    }

    private static var draft: Message.Draft {
        get throws {
            try Message.Draft(
                sender: .named("Shop"),
                parts: [try MessagePart.Draft(mimeType: "text/plain", body: .inline([0x61]))])
        }
    }

    /// Every version in the system's perspective and that of a user.
    private static func presentations(of user: UserID?) -> [Presentation] {
        APIVersion.allCases.flatMap { version in
            [.system, user.map(Perspective.user)].compactMap(\.self).map {
                perspective in
                var presentation = Presentation(
                    version: version,
                    links: LinkBuilder(
                        publicBase: base, application: application, perspective: perspective)
                ) { _ in
                    (base, 0)
                }
                presentation.showsTransfer = true
                return presentation
            }
        }
    }

    private static func expectJSON(_ bytes: [UInt8]) {
        invariant("an object is JSON", (try? JSONDocument(bytes)) != nil)
    }
}
