import Bytes
import JSON
import Messaging

extension ArchiveLineJSON {
    static func write(_ archived: ArchivedMessage, into writer: inout JSONWriter) {
        let message = archived.message
        writer.object { writer in
            writer.kind(.message)
            writer.member("id", message.id.uuid)
            writer.member("conversation", message.conversation.uuid)
            writer.member("position", message.position.number)
            write(message.sender, into: &writer)
            writer.member("sent_at", message.sentAt)
            writer.member(present: "updated_at", message.updatedAt)
            writer.member("version", message.version)
            writer.member(present: "parts_made", archived.partsMade)
            if archived.blocksChangedAt.milliseconds != 0 {
                writer.member("blocks_changed_at", archived.blocksChangedAt)
            }
            writer.key("parts")
            writer.array { writer in
                for (part, place) in zip(message.parts, archived.places) {
                    write(part, at: place, into: &writer)
                }
            }
            write(archived.contents, into: &writer)
            write(archived.recipients, into: &writer)
        }
    }

    /// Writes the recipients: only in events of the log, because an export has them in the line of the conversation.
    private static func write(
        _ recipients: [ArchivedMessage.Recipient], into writer: inout JSONWriter
    ) {
        guard !recipients.isEmpty else { return }
        writer.key("recipients")
        writer.array { writer in
            for recipient in recipients {
                writer.object { writer in
                    writer.member("user_id", recipient.user.text)
                    writer.member("status", recipient.status.rawValue)
                    writer.member("hidden", recipient.isHidden)
                }
            }
        }
    }

    static func write(_ sender: Sender, into writer: inout JSONWriter) {
        writer.key("sender")
        writer.object { writer in
            switch sender {
            case .user(let user): writer.member("user_id", user.text)
            case .named(let name): writer.member("name", name)
            }
        }
    }

    static func write(_ part: MessagePart, at place: Int64?, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", part.id.uuid)
            writer.member("index", part.index)
            writer.member(present: "place", place)
            writer.member("mime_type", part.mimeType)
            write(part.body, into: &writer)
            writer.member(present: "updated_at", part.updatedAt)
        }
    }

    static func write(_ body: MessagePart.Body, into writer: inout JSONWriter) {
        switch body {
        case .inline(let bytes): MessagePartJSON.writeBody(bytes, into: &writer)
        case .content(let id, let size):
            writer.member("content", id.uuid)
            writer.member("size", size)
        }
    }

    static func write(_ contents: [ArchivedContent], into writer: inout JSONWriter) {
        guard !contents.isEmpty else { return }
        writer.key("contents")
        writer.array { writer in
            for archived in contents { writer.object { writer in write(archived, into: &writer) } }
        }
    }

    /// Writes the members of a content into the open object.
    static func write(_ archived: ArchivedContent, into writer: inout JSONWriter) {
        let content = archived.content
        writer.member("id", content.id.uuid)
        writer.member(present: "conversation", content.conversation?.uuid)
        writer.member("mime_type", content.mimeType)
        writer.member("size", content.size)
        writer.member(present: "file_name", content.fileName)
        writer.member("sha256", Base64.encode(content.sha256))
        writer.member("crc32c", Int64(content.crc32c))
        writer.member(present: "md5", content.md5.map(Base64.encode))
        writer.member(present: "sha512", content.sha512.map(Base64.encode))
        writer.member("completed_at", content.completedAt)
        writer.member(present: "origin", content.origin)
        writer.member(present: "owner", archived.owner?.text)
    }

    /// Whether a message or an announcement has no parts because its sender was erased (X16).
    ///
    /// - Throws: When the sender was erased and there are parts.
    private static func isTombstone(
        _ line: ArchiveLineReader, without parts: [some Any]
    ) throws(ArchiveLineError) -> Bool {
        guard (try? sender(line))?.isErased == true else { return false }
        guard parts.isEmpty else {
            throw line.error("parts", "must be empty, because the sender was erased")
        }
        return true
    }

    static func message(_ line: ArchiveLineReader) throws(ArchiveLineError) -> ArchivedMessage {
        let parts = try line.objects("parts", Message.partLimit, part)
        let indexes = Set(parts.map(\.part.index))
        let isTombstone = try isTombstone(line, without: parts)
        guard !parts.isEmpty || isTombstone, indexes.count == parts.count else {
            throw line.error("parts", "must be at least one, and no two of the same index")
        }
        let partsMade = try line.optional("parts_made") { name throws(ArchiveLineError) in
            try line.number(name)
        }
        // `parts_made` is the index of the next part.
        guard Int64(indexes.max() ?? 0) < partsMade ?? Int64(parts.count) else {
            throw line.error(
                partsMade == nil ? "parts.index" : "parts_made",
                partsMade == nil
                    ? "must be below the number of parts where parts_made is missing"
                    : "must be above the index of every part")
        }
        let position = Position(try line.version("position"))
        let message = Message(
            id: try line.uuid("id"), conversation: try line.uuid("conversation"),
            position: position, sender: try sender(line), sentAt: try line.moment("sent_at"),
            parts: parts.map(\.part), updatedAt: try line.optional("updated_at", line.moment),
            version: try line.version("version"))
        return ArchivedMessage(
            message,
            partsMade: partsMade,
            places: parts.map(\.place),
            blocksChangedAt: try line.optional("blocks_changed_at", line.momentOfChange)
                ?? Timestamp(milliseconds: 0),
            contents: try contents(line, of: parts.map(\.part.body)))
    }

    /// Reads the contents that parts attach; both have the size.
    private static func contents(
        _ line: ArchiveLineReader, of bodies: [MessagePart.Body]
    ) throws(ArchiveLineError) -> [ArchivedContent] {
        let contents = try line.objects("contents", Message.partLimit, content)
        let sizes = Dictionary(
            contents.map { archived in (archived.content.id, archived.content.size) },
            uniquingKeysWith: { first, _ in first })
        for case .content(let id, let size) in bodies where sizes[id] ?? size != size {
            throw line.error("parts.size", "must be the size of the content \(id.uuid)")
        }
        return contents
    }

    static func sender(_ line: ArchiveLineReader) throws(ArchiveLineError) -> Sender {
        let sender = try line.member("sender")
        if sender.object.present("user_id") != nil { return .user(try sender.user("user_id")) }
        let name = try sender.text("name")
        guard !name.isEmpty else { throw sender.error("name", "must not be empty") }
        return .named(name)
    }

    static func part(
        _ line: ArchiveLineReader
    ) throws(ArchiveLineError) -> (part: MessagePart, place: Int64?) {
        let draft = try draft(line)
        let part = MessagePart(
            id: try line.uuid("id"), index: Int(try line.number("index")),
            mimeType: draft.mimeType, body: draft.body,
            updatedAt: try line.optional("updated_at", line.moment))
        return (
            part,
            try line.optional("place") { name throws(ArchiveLineError) in try line.number(name) }
        )
    }

    /// Reads the type and the body of a part.
    static func draft(_ line: ArchiveLineReader) throws(ArchiveLineError) -> MessagePart.Draft {
        let mimeType = try line.text("mime_type")
        let body = try body(line)
        return try line.validated(
            "mime_type", "must be a media type such as text/plain, of a body of 2048 bytes at most"
        ) { () throws(Rejection) in
            try MessagePart.Draft(
                mimeType: mimeType, body: body)
        }
    }

    private static func body(_ line: ArchiveLineReader) throws(ArchiveLineError) -> MessagePart.Body
    {
        if line.object.present("content") != nil {
            return .content(try line.uuid("content"), size: try line.size("size"))
        }
        let text = try line.text("body")
        guard let encoding = try line.optional("encoding", line.text) else {
            return .inline(Array(text.utf8))
        }
        guard encoding == "base64" else { throw line.error("encoding", "must be base64") }
        guard let bytes = Base64.decode(text) else {
            throw line.error("body", "must be base64")
        }
        return .inline(bytes)
    }

    static func content(_ line: ArchiveLineReader) throws(ArchiveLineError) -> ArchivedContent {
        let mimeType = try line.text("mime_type")
        _ = try line.validated("mime_type", "must be a media type such as image/png") {
            () throws(Rejection) in
            try MessagePart.Draft(mimeType: mimeType, body: .inline([]))
        }
        let content = Content(
            id: try line.uuid("id"),
            conversation: try line.optional("conversation") { name throws(ArchiveLineError) in
                try line.uuid(name)
            },
            mimeType: mimeType, size: try line.size("size"),
            fileName: try line.optional("file_name", line.text),
            sha256: try line.bytes("sha256", 32...32),
            crc32c: UInt32(try line.number("crc32c", 0...Int64(UInt32.max))),
            md5: try line.optional("md5") { name throws(ArchiveLineError) in
                try line.bytes(name, 16...16)
            },
            sha512: try line.optional("sha512") { name throws(ArchiveLineError) in
                try line.bytes(name, 64...64)
            },
            completedAt: try line.moment("completed_at"),
            origin: try line.optional("origin", line.text))
        return ArchivedContent(content, owner: try line.optional("owner", line.user))
    }
}

extension ArchiveLineJSON {
    static func write(_ archived: ArchivedScheduledMessage, into writer: inout JSONWriter) {
        let (message, draft) = (archived.message, archived.message.draft)
        writer.object { writer in
            writer.kind(.scheduled)
            writer.member("id", message.id.uuid)
            writer.member("conversation", message.conversation.uuid)
            writer.member("due_at", message.dueAt)
            writer.member(present: "typing_from", message.typingFrom)
            write(draft.sender, into: &writer)
            writer.member("sender_is_participant", draft.admission == .participants)
            writer.member("sender_property", draft.senderProperty)
            writer.member(present: "proposed_id", draft.proposedID?.uuid)
            if let notification = draft.notification {
                writer.member("notification", raw: notification)
            }
            writer.key("parts")
            writer.array { writer in
                for part in draft.parts {
                    writer.object { writer in
                        writer.member(present: "id", part.proposedID?.uuid)
                        writer.member("mime_type", part.mimeType)
                        write(part.body, into: &writer)
                    }
                }
            }
            write(archived.contents, into: &writer)
        }
    }

    static func schedule(_ line: ArchiveLineReader) throws(ArchiveLineError)
        -> ArchivedScheduledMessage
    {
        let parts = try line.objects("parts", Message.partLimit) {
            part throws(ArchiveLineError) -> MessagePart.Draft in
            let partDraft = try Self.draft(part)
            let id: MessagePart.ID? = try part.optional("id") { name throws(ArchiveLineError) in
                try part.uuid(name)
            }
            return try part.validated("id", "names no part") { () throws(Rejection) in
                try MessagePart.Draft(
                    mimeType: partDraft.mimeType, body: partDraft.body, proposedID: id)
            }
        }
        let sender = try sender(line)
        let isParticipant = try line.flag("sender_is_participant")
        let property = try line.text("sender_property")
        let proposed: Message.ID? = try line.optional("proposed_id") {
            name throws(ArchiveLineError) in
            try line.uuid(name)
        }
        let notification = line.object.present("notification").map { value in Array(value.raw) }
        let draft = try line.validated("parts", "must be at least one") { () throws(Rejection) in
            try Message.Draft(
                sender: sender, admission: isParticipant ? .participants : .identities,
                senderProperty: property, parts: parts, notification: notification,
                proposedID: proposed)
        }
        return ArchivedScheduledMessage(
            ScheduledMessage(
                id: try line.uuid("id"), conversation: try line.uuid("conversation"), draft: draft,
                dueAt: try line.moment("due_at"),
                typingFrom: try line.optional("typing_from", line.moment)),
            contents: try contents(line, of: parts.map(\.body)))
    }

    static func write(_ archived: ArchivedAnnouncement, into writer: inout JSONWriter) {
        let announcement = archived.announcement
        writer.object { writer in
            writer.kind(.announcement)
            writer.member("id", announcement.id.uuid)
            write(announcement.sender, into: &writer)
            writer.member("sent_at", announcement.sentAt)
            writer.key("parts")
            writer.array { writer in
                for part in announcement.parts { write(part, at: nil, into: &writer) }
            }
            writer.key("recipients")
            writer.array { writer in
                for recipient in archived.recipients {
                    writer.object { writer in
                        writer.member("user_id", recipient.user.text)
                        writer.member("status", recipient.status.rawValue)
                        writer.member(present: "deleted_at", recipient.deletedAt)
                    }
                }
            }
        }
    }

    static func announcement(_ line: ArchiveLineReader) throws(ArchiveLineError)
        -> ArchivedAnnouncement
    {
        let parts = try line.objects("parts", Message.partLimit, part).map(\.part)
        let isInline = parts.allSatisfy { part in
            if case .inline = part.body { true } else { false }
        }
        let isTombstone = try isTombstone(line, without: parts)
        guard isInline, !parts.isEmpty || isTombstone,
            Set(parts.map(\.index)).count == parts.count
        else {
            throw line.error("parts", "must be at least one, each with a body and its own index")
        }
        let recipients = try line.objects("recipients", Announcement.recipientLimit) {
            recipient throws(ArchiveLineError) in
            ArchivedAnnouncement.Recipient(
                try recipient.user("user_id"), status: try recipient.choice("status"),
                deletedAt: try recipient.optional("deleted_at", recipient.moment))
        }
        // There are none if all of them were erased (X16).
        guard Set(recipients.map(\.user)).count == recipients.count else {
            throw line.error("recipients", "must name no user twice")
        }
        return ArchivedAnnouncement(
            Announcement(
                id: try line.uuid("id"), sender: try sender(line),
                sentAt: try line.moment("sent_at"), parts: parts), recipients: recipients)
    }
}
