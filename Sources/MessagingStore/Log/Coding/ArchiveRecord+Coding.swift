import Messaging

extension ArchiveRecord {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .user(let archived):
            writer.write(Int64(0))
            archived.write(to: &writer)
        case .relations(let archived):
            writer.write(Int64(1))
            writer.write(archived.user)
            for users in [archived.followed, archived.blocked] {
                writer.write(each: users) { writer, user in writer.write(user) }
            }
            writer.write(each: archived.blockPeriods) { writer, period in
                writer.write(period.user)
                writer.write(period.since)
                writer.write(optional: period.until) { writer, moment in writer.write(moment) }
            }
        case .conversation(let archived):
            writer.write(Int64(2))
            archived.conversation.write(to: &writer)
            writer.write(each: archived.aliases) { writer, id in writer.write(id) }
            writer.write(each: archived.members) { writer, member in member.write(to: &writer) }
        case .message(let archived):
            writer.write(Int64(3))
            archived.message.write(to: &writer)
            writer.write(optional: archived.partsMade) { writer, count in writer.write(count) }
            writer.write(each: archived.places) { writer, place in
                writer.write(optional: place) { writer, place in writer.write(place) }
            }
            writer.write(archived.blocksChangedAt)
            writer.write(archived.contents)
            writer.write(each: archived.recipients) { writer, recipient in
                writer.write(recipient.user)
                writer.write(recipient.status.rawValue)
                writer.write(recipient.isHidden)
            }
        case .content(let archived):
            writer.write(Int64(4))
            archived.write(to: &writer)
        case .scheduled(let archived):
            writer.write(Int64(5))
            archived.message.write(to: &writer)
            writer.write(archived.contents)
        case .announcement(let archived):
            writer.write(Int64(6))
            archived.write(to: &writer)
        case .key(let archived):
            writer.write(Int64(7))
            writer.write(archived.kind.rawValue)
            writer.write(archived.key)
            writer.write(archived.object)
        case .application(let application):
            writer.write(Int64(8))
            application.write(to: &writer)
        }
    }

    init(from reader: inout ByteReader) throws {
        self =
            switch try reader.number() {
            case 0: .user(try ArchivedUser(from: &reader))
            case 1:
                .relations(
                    ArchivedRelations(
                        try reader.user(),
                        followed: try reader.each { reader in try reader.user() },
                        blocked: try reader.each { reader in try reader.user() },
                        blockPeriods: try reader.each { reader in
                            ArchivedRelations.BlockPeriod(
                                try reader.user(), since: try reader.timestamp(),
                                until: try reader.optional { reader in try reader.timestamp() })
                        }))
            case 2:
                .conversation(
                    ArchivedConversation(
                        try Conversation(from: &reader),
                        aliases: try reader.each { reader in try reader.id() },
                        members: try reader.each { reader in try ArchivedParticipant(from: &reader)
                        }))
            case 3:
                .message(
                    ArchivedMessage(
                        try Message(from: &reader),
                        partsMade: try reader.optional { reader in try reader.number() },
                        places: try reader.each { reader in
                            try reader.optional { reader in try reader.number() }
                        }, blocksChangedAt: try reader.timestamp(),
                        contents: try reader.contents(),
                        recipients: try reader.each { reader in
                            ArchivedMessage.Recipient(
                                try reader.user(),
                                status: try reader.valid(
                                    RecipientStatus(rawValue: try reader.text()),
                                    "status of a recipient"),
                                isHidden: try reader.flag())
                        }))
            case 4: .content(try ArchivedContent(from: &reader))
            case 5:
                .scheduled(
                    ArchivedScheduledMessage(
                        try ScheduledMessage(from: &reader), contents: try reader.contents()))
            case 6: .announcement(try ArchivedAnnouncement(from: &reader))
            case 7:
                .key(
                    ArchivedReplayKey(
                        try reader.valid(
                            Replay.Kind(rawValue: try reader.text()), "kind of a key"),
                        try reader.id(), object: try reader.id()))
            case 8: .application(try Application(from: &reader))
            case let other: throw StoreFault.unreadable("record \(other)")
            }
    }
}

extension ArchivedUser {
    fileprivate func write(to writer: inout ByteWriter) {
        user.identity.write(to: &writer)
        writer.write(user.identityStatus.rawValue)
        writer.write(user.identityVersion)
        writer.write(user.isSuspended)
        writer.write(optional: user.sessionsEndedAt) { writer, moment in writer.write(moment) }
        writer.write(externalUnreadCount)
        writer.write(optional: createdAt) { writer, moment in writer.write(moment) }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        let user = User(
            identity: try Identity(from: &reader),
            identityStatus: try reader.valid(
                User.IdentityStatus(rawValue: try reader.number()), "identity status of a user"),
            identityVersion: try reader.number(), isSuspended: try reader.flag(),
            sessionsEndedAt: try reader.optional { reader in try reader.timestamp() })
        self.init(
            user, externalUnreadCount: try reader.number(),
            createdAt: try reader.optional { reader in try reader.timestamp() })
    }
}

extension ArchivedParticipant {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(participant.userID)
        writer.write(participant.past.text)
        writer.write(participant.joinedAfter)
        writer.write(optional: participant.leftAfter) { writer, last in writer.write(last) }
        writer.write(place)
        writer.write(optional: shownFrom) { writer, first in writer.write(first) }
        view.write(to: &writer)
        writer.write(optional: frozenMetadata) { writer, metadata in metadata.write(to: &writer) }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        let user = try reader.user()
        let past = try reader.valid(IntervalSet(text: try reader.text()), "stays of a member")
        let joinedAfter = try reader.position()
        let leftAfter = try reader.optional { reader in try reader.position() }
        let place = try reader.number()
        let shownFrom = try reader.optional { reader in try reader.position() }
        let view = try MergeableView(from: &reader)
        self.init(
            Participant(
                userID: user, past: past, joinedAfter: joinedAfter, leftAfter: leftAfter,
                state: view.state, clearedTo: view.clearedTo),
            place: place, shownFrom: shownFrom, hidden: view.hidden, receipts: view.receipts,
            frozenMetadata: try reader.optional { reader in try Metadata(from: &reader) })
    }

    private var view: MergeableView {
        MergeableView(
            state: participant.state, clearedTo: participant.clearedTo, hidden: hidden,
            receipts: receipts)
    }
}

extension ArchivedContent {
    fileprivate func write(to writer: inout ByteWriter) {
        content.write(to: &writer)
        writer.write(optional: owner) { writer, user in writer.write(user) }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        self.init(
            try Content(from: &reader), owner: try reader.optional { reader in try reader.user() })
    }
}

extension ArchivedAnnouncement {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(announcement.id)
        announcement.sender.write(to: &writer)
        writer.write(announcement.sentAt)
        writer.write(each: announcement.parts) { writer, part in part.write(to: &writer) }
        writer.write(each: recipients) { writer, recipient in
            writer.write(recipient.user)
            writer.write(recipient.status.rawValue)
            writer.write(optional: recipient.deletedAt) { writer, moment in writer.write(moment) }
        }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        self.init(
            Announcement(
                id: try reader.id(), sender: try Sender(from: &reader),
                sentAt: try reader.timestamp(),
                parts: try reader.each { reader in try MessagePart(from: &reader) }),
            recipients: try reader.each { reader in
                Recipient(
                    try reader.user(),
                    status: try reader.valid(
                        RecipientStatus(rawValue: try reader.text()), "status of a recipient"),
                    deletedAt: try reader.optional { reader in try reader.timestamp() })
            })
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ contents: [ArchivedContent]) {
        write(each: contents) { writer, content in content.write(to: &writer) }
    }
}

extension ByteReader {
    fileprivate mutating func contents() throws -> [ArchivedContent] {
        try each { reader in try ArchivedContent(from: &reader) }
    }
}
