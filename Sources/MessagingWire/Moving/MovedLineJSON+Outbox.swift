import JSON
import Messaging

extension MovedLineJSON {
    static func write(_ moved: MovedSchedule, into writer: inout JSONWriter) {
        let (message, draft) = (moved.message, moved.message.draft)
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
            write(moved.contents, into: &writer)
        }
    }

    static func schedule(_ line: MovedReader) throws(MovedMistake) -> MovedSchedule {
        let parts = try line.objects("parts", Message.partLimit) {
            part throws(MovedMistake) -> MessagePart.Draft in
            let made = try Self.draft(part)
            let id: MessagePart.ID? = try part.optional("id") { name throws(MovedMistake) in
                try part.uuid(name)
            }
            return try part.judged("id", "names no part") { () throws(Rejection) in
                try MessagePart.Draft(mimeType: made.mimeType, body: made.body, proposedID: id)
            }
        }
        let sender = try sender(line)
        let isParticipant = try line.flag("sender_is_participant")
        let property = try line.text("sender_property")
        let proposed: Message.ID? = try line.optional("proposed_id") { name throws(MovedMistake) in
            try line.uuid(name)
        }
        let notification = line.object.present("notification").map { value in Array(value.raw) }
        let draft = try line.judged("parts", "must be at least one") { () throws(Rejection) in
            try Message.Draft(
                sender: sender, admission: isParticipant ? .participants : .identities,
                senderProperty: property, parts: parts, notification: notification,
                proposedID: proposed)
        }
        return MovedSchedule(
            ScheduledMessage(
                id: try line.uuid("id"), conversation: try line.uuid("conversation"), draft: draft,
                dueAt: try line.moment("due_at"),
                typingFrom: try line.optional("typing_from", line.moment)),
            contents: try line.objects("contents", Message.partLimit, content))
    }

    static func write(_ moved: MovedAnnouncement, into writer: inout JSONWriter) {
        let announcement = moved.announcement
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
                for recipient in moved.recipients {
                    writer.object { writer in
                        writer.member("user_id", recipient.user.text)
                        writer.member("status", recipient.status.rawValue)
                        writer.member(present: "deleted_at", recipient.deletedAt)
                    }
                }
            }
        }
    }

    static func announcement(_ line: MovedReader) throws(MovedMistake) -> MovedAnnouncement {
        let parts = try line.objects("parts", Message.partLimit, part).map(\.part)
        let isInline = parts.allSatisfy { part in
            if case .inline = part.body { true } else { false }
        }
        guard isInline, !parts.isEmpty, Set(parts.map(\.index)).count == parts.count else {
            throw line.mistake("parts", "must be at least one, each with a body and its own index")
        }
        let recipients = try line.objects("recipients", Announcement.recipientLimit) {
            recipient throws(MovedMistake) in
            MovedAnnouncement.Recipient(
                try recipient.user("user_id"), status: try recipient.choice("status"),
                deletedAt: try recipient.optional("deleted_at", recipient.moment))
        }
        guard !recipients.isEmpty, Set(recipients.map(\.user)).count == recipients.count else {
            throw line.mistake("recipients", "must be at least one, and nobody twice")
        }
        return MovedAnnouncement(
            Announcement(
                id: try line.uuid("id"), sender: try sender(line),
                sentAt: try line.moment("sent_at"), parts: parts), recipients: recipients)
    }
}
