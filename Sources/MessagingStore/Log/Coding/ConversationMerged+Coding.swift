import Messaging

extension ConversationMerged {
    func write(to writer: inout ByteWriter) {
        writer.write(winner)
        writer.write(optional: loser) { writer, id in writer.write(id) }
        writer.write(each: aliases) { writer, id in writer.write(id) }
        metadata.write(to: &writer)
        writer.write(isAnnounced)
        writer.write(lastPosition)
        writer.write(each: relocations) { writer, stretch in
            // Of two conversations one is the winner: a flag is shorter than an id.
            writer.write(stretch.conversation == winner)
            writer.write(stretch.from)
            writer.write(stretch.through.number - stretch.from.number)
            writer.write(stretch.shift)
        }
        writer.write(each: views) { writer, entry in
            writer.write(entry.user)
            entry.view.write(to: &writer)
        }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        let winner: Conversation.ID = try reader.id()
        let loser: Conversation.ID? = try reader.optional { reader in try reader.id() }
        self.init(
            winner: winner, loser: loser,
            aliases: try reader.each { reader in try reader.id() },
            metadata: try Metadata(from: &reader), isAnnounced: try reader.flag(),
            lastPosition: try reader.position(),
            relocations: try reader.each { reader in
                let isWinners = try reader.flag()
                let from = try reader.number()
                let through = try reader.sum(from)
                return Relocation(
                    conversation: isWinners
                        ? winner : try reader.legal(loser, "conversation of a relocation"),
                    from: Position(from), through: Position(through),
                    to: Position(try reader.sum(from)))
            },
            views: try reader.each { reader in
                View(try reader.user(), try ViewCopy(from: &reader))
            }, at: try reader.timestamp())
    }
}

extension ViewCopy {
    func write(to writer: inout ByteWriter) {
        writer.write(state.rawValue)
        writer.write(clearedTo)
        for set in [hidden, receipts.delivered, receipts.read] { writer.write(set.text) }
    }

    init(from reader: inout ByteReader) throws {
        let state = try reader.legal(ViewState(rawValue: try reader.text()), "state of a view")
        let clearedTo = try reader.position()
        let sets = try (0..<3).map { _ in
            try reader.legal(IntervalSet(text: try reader.text()), "positions of a view")
        }
        self.init(
            state: state, clearedTo: clearedTo, hidden: sets[0],
            receipts: Receipts(delivered: sets[1], read: sets[2]))
    }
}
