import Messaging
import SQL

extension Projection {
    func record(_ recorded: ReceiptsRecorded) throws {
        let owner = ReceiptOwner(conversation: recorded.conversation, user: recorded.user)
        let known = try transaction.receipts(of: owner, in: application)
        keep(known, of: owner)
        let receipts = known.recording(
            recorded.kind,
            of: try closingGaps(
                beside: recorded.positions,
                in: recorded.kind == .read ? known.read : known.delivered, of: owner))
        try write(receipts, of: owner)
        guard recorded.kind == .read,
            let participant = try transaction.participant(
                recorded.user, in: recorded.conversation, in: application)
        else { return }
        try subtractFromUnread(
            of: participant, after: recorded.positions, knowing: receipts.read, owner)
    }

    func write(_ receipts: Receipts, of owner: ReceiptOwner) throws {
        try transaction.execute(
            """
            INSERT INTO receipts (application, conversation, user_id, delivered, read)
            VALUES (
                \(application), \(owner.conversation), \(owner.user),
                \(receipts.delivered.text), \(receipts.read.text)
            ) ON CONFLICT (application, conversation, user_id) DO UPDATE SET
                delivered = excluded.delivered, read = excluded.read
            """)
    }

    /// Adds narrow gaps between positions in which no other participant has sent a message.
    ///
    /// A user's own messages and deleted ones need no receipt (R77). Without this they would split the set, and
    /// it would grow with the conversation for a user that alternates between sending and reading.
    private func closingGaps(
        beside positions: IntervalSet, in known: IntervalSet, of owner: ReceiptOwner
    ) throws -> IntervalSet {
        let all = known.union(positions).intervals
        var gaps: [ClosedRange<Int64>] = []
        for (left, right) in zip(all, all.dropFirst()) {
            guard right.lowerBound - left.upperBound <= Self.widestGap,
                positions.contains(left.upperBound) || positions.contains(right.lowerBound)
            else { continue }
            let gap = (left.upperBound + 1)...(right.lowerBound - 1)
            guard
                try !transaction.isAny(
                    byOthersThan: owner, in: IntervalSet(gap), in: application)
            else { continue }
            gaps.append(gap)
        }
        return positions.union(IntervalSet(gaps))
    }

    /// The maximum distance between two ranges for which the messages between them are looked up.
    private static var widestGap: Int64 { 64 }

    /// Subtracts read messages from the unread count. It is set to zero when nothing is left to read, so that
    /// marking a long conversation as read counts none of its messages (R74, R75).
    private func subtractFromUnread(
        of reader: Participant, after positions: IntervalSet, knowing read: IntervalSet,
        _ owner: ReceiptOwner
    ) throws {
        let view = try transaction.first(
            """
            SELECT c.last_position, p.unshown_count FROM participants p
            JOIN conversations c ON c.application = p.application AND c.id = p.conversation
            WHERE p.application = \(application) AND p.conversation = \(owner.conversation)
                AND p.user_id = \(owner.user)
            """
        ) { row in (last: try row.position(0), unshown: try row.int64(1)) }
        guard let view else { return }
        let countable = reader.stay(upTo: view.last).intersection(reader.range(upTo: view.last))
        var rest = countable.subtracting(read)
        if !rest.isEmpty, rest.count <= view.unshown {
            rest = rest.subtracting(
                try transaction.hiddenPositions(of: owner, within: rest, in: application))
        }
        let fresh =
            rest.isEmpty
            ? nil
            : try transaction.count(
                othersThan: owner, in: positions.intersection(countable), in: application)
        try transaction.execute(
            """
            UPDATE participants SET unread_count = unread_count - COALESCE(\(fresh), unread_count)
            WHERE application = \(application) AND conversation = \(owner.conversation)
                AND user_id = \(owner.user)
            """)
    }
}
