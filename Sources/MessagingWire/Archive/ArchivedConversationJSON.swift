import JSON
import Messaging

extension ArchiveLineJSON {
    static func write(_ archived: ArchivedConversation, into writer: inout JSONWriter) {
        let conversation = archived.conversation
        writer.object { writer in
            writer.kind(.conversation)
            writer.member("id", conversation.id.uuid)
            writer.member("created_at", conversation.createdAt)
            writer.member(present: "deleted_at", conversation.deletedAt)
            writer.member("distinct", conversation.isDistinct)
            writer.member("announced", conversation.isAnnounced)
            writer.member("version", conversation.version)
            writer.member("last_position", conversation.lastPosition.number)
            writer.member(present: "last_sent_at", conversation.lastSentAt)
            writer.member(present: "aliases", archived.aliases.map(\.uuid))
            write(conversation.metadata, into: &writer)
            writer.key("participants")
            writer.array { writer in
                for member in archived.members { write(member, into: &writer) }
            }
        }
    }

    private static func write(_ member: ArchivedParticipant, into writer: inout JSONWriter) {
        let participant = member.participant
        writer.object { writer in
            writer.member("user_id", participant.userID.text)
            writer.member("place", member.place)
            writer.member(present: "past", participant.past.textUnlessEmpty)
            writer.member("joined_after", participant.joinedAfter.number)
            writer.member(present: "left_after", participant.leftAfter?.number)
            writer.member("state", participant.state.rawValue)
            writer.member("cleared_to", participant.clearedTo.number)
            writer.member(present: "shown_from", member.shownFrom?.number)
            writer.member(present: "hidden", member.hidden.textUnlessEmpty)
            writer.member(present: "delivered", member.receipts.delivered.textUnlessEmpty)
            writer.member(present: "read", member.receipts.read.textUnlessEmpty)
            if let metadata = member.frozenMetadata { write(metadata, into: &writer) }
        }
    }

    /// Writes the metadata as a list of writes, each with its time: a text, an empty object, whose members are separate
    /// writes, or `null` for a deletion.
    private static func write(_ metadata: Metadata, into writer: inout JSONWriter) {
        writer.key("metadata")
        writer.array { writer in
            for (path, write) in metadata.writes {
                writer.object { writer in
                    writer.key("path")
                    writer.array { writer in
                        for key in path { writer.string(key) }
                    }
                    writer.member("at", write.at)
                    writer.key("value")
                    switch write.value {
                    case .text(let text): writer.string(text)
                    case .object: writer.object { _ in }
                    case .deleted: writer.null()
                    }
                }
            }
        }
    }

    static func conversation(
        _ line: ArchiveLineReader, _ limits: MessagingLimits
    ) throws(ArchiveLineError) -> ArchivedConversation {
        let members = try line.objects("participants", 1_000_000, member)
        let users = members.map(\.participant.userID)
        guard Set(users).count == users.count else {
            throw line.error("participants", "names a user twice")
        }
        let deletedAt = try line.optional("deleted_at", line.moment)
        let present = members.filter { member in !member.participant.isFormer }.count
        guard present <= limits.participants, (deletedAt == nil) != members.isEmpty else {
            throw line.error(
                "participants",
                "must name 1 to \(limits.participants) current participants, and none if deleted_at is present"
            )
        }
        let isDistinct = try line.flag("distinct")
        // After a change of participants a conversation is never distinct again (R5).
        let areUnchanged = members.map(\.participant).allSatisfy { participant in
            !participant.isFormer && participant.past.isEmpty
        }
        guard !isDistinct || areUnchanged else {
            throw line.error(
                "distinct", "must be false where a participant has left_after or past")
        }
        let conversation = Conversation(
            id: try line.uuid("id"), createdAt: try line.moment("created_at"),
            participants: Participants([]), isWide: limits.isWide(present), isDistinct: isDistinct,
            metadata: try metadata(line), isAnnounced: try line.flag("announced"),
            deletedAt: deletedAt, lastPosition: try line.position("last_position"),
            lastSentAt: try line.optional("last_sent_at", line.moment),
            version: try line.version("version"))
        return ArchivedConversation(
            conversation, aliases: try aliases(line),
            members: isDistinct ? members.map(\.fromTheBeginning) : members)
    }

    private static func aliases(_ line: ArchiveLineReader) throws(ArchiveLineError) -> [Conversation
        .ID]
    {
        let aliases = try line.list("aliases", 1_000_000) { element throws(ArchiveLineError) in
            guard let id = element.string.flatMap({ text in Conversation.ID(uuid: text) }) else {
                throw line.error("aliases", "must be an array of UUIDs")
            }
            return id
        }
        guard Set(aliases).count == aliases.count else {
            throw line.error("aliases", "names one twice")
        }
        return aliases
    }

    private static func member(_ line: ArchiveLineReader) throws(ArchiveLineError)
        -> ArchivedParticipant
    {
        let participant = Participant(
            userID: try line.user("user_id"), past: try line.positions("past"),
            joinedAfter: try line.position("joined_after"),
            leftAfter: try line.optional("left_after", line.position),
            state: try line.choice("state"), clearedTo: try line.position("cleared_to"))
        let hidden = try line.positions("hidden")
        // Each hidden position is stored as a row.
        guard hidden.count <= 1_000_000 else {
            throw line.error("hidden", "must be 1000000 positions at most")
        }
        return ArchivedParticipant(
            participant, place: try line.number("place"),
            shownFrom: try line.optional("shown_from", line.position), hidden: hidden,
            receipts: Receipts(
                delivered: try line.positions("delivered"), read: try line.positions("read")),
            frozenMetadata: try line.optional("metadata") { _ throws(ArchiveLineError) in
                try metadata(line)
            })
    }

    private static func metadata(_ line: ArchiveLineReader) throws(ArchiveLineError) -> Metadata {
        let writes = try line.objects("metadata", 1_000_000, metadataWrite)
        let metadata = Metadata(writes: writes)
        try line.validated("metadata", "breaks a rule of metadata") { () throws(Rejection) in
            try metadata.view.check(as: "metadata")
        }
        return metadata
    }

    private static func metadataWrite(
        _ line: ArchiveLineReader
    ) throws(ArchiveLineError) -> (path: [String], write: MetadataWrite) {
        let path = try line.list("path", MetadataLimits.depth + 1) {
            element throws(ArchiveLineError) in
            guard let key = element.string else {
                throw line.error("path", "must be an array of keys")
            }
            return key
        }
        try line.validated("path", "breaks a rule of metadata") { () throws(Rejection) in
            try MetadataTree.check(path: path, as: "path")
        }
        let value: MetadataWrite.Value? =
            switch line.object["value"] {
            case let value? where value.isNull: .deleted
            case let value? where value.kind == .object && value.count == 0: .object
            case let value?: value.string.map(MetadataWrite.Value.text)
            case nil: nil
            }
        guard let value else {
            throw line.error("value", "must be a text, an empty object, or null")
        }
        return (path, MetadataWrite(value, at: try line.momentOfChange("at")))
    }
}

extension IntervalSet {
    /// The text of the set; `nil` for the empty set, whose member is omitted.
    fileprivate var textUnlessEmpty: String? { isEmpty ? nil : text }
}
