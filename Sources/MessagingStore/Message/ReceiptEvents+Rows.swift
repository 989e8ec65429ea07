import Messaging
import SQL

extension Projection {
    /// Stores receipts of a participant, and subtracts read messages from the unread count.
    func record(_ recorded: ReceiptsRecorded) throws {
        let owner = ReceiptOwner(conversation: recorded.conversation, user: recorded.user)
        let known = try transaction.receipts(of: owner, in: application)
        save(known, of: owner)
        let receipts = known.recording(
            recorded.kind,
            of: try closingGaps(
                beside: recorded.positions,
                in: recorded.kind == .read ? known.read : known.delivered, of: owner))
        write(receipts, of: owner)
        guard recorded.kind == .read,
            let participant = try transaction.participant(
                recorded.user, in: recorded.conversation, in: application)
        else { return }
        try subtractFromUnread(
            of: participant, after: recorded.positions, knowing: receipts.read, owner)
    }

    /// Writes the receipts of a participant, once for all their receipts of a commit.
    func write(_ receipts: Receipts, of owner: ReceiptOwner) {
        touch(.receipts, Array(owner.user.text.utf8), in: owner.conversation)
        let row = RowCacheKey<(owner: ReceiptOwner, receipts: Receipts)>(
            of: [.conversation(owner.conversation, in: application, "receipts")],
            aspect: Array(owner.user.text.utf8))
        transaction.deferWrite(
            (owner, receipts), of: row, in: CommitGroup("receipts", in: application.bytes)
        ) { [application] rows in
            rows.powerOfTwoChunks(upTo: 256).map { rows in
                """
                INSERT INTO receipts (application, conversation, user_id, delivered, read)
                SELECT \(application), column1, column2, column3, column4
                FROM \(table: "new", of: [
                    .blobs(rows.map(\.owner.conversation.bytes)),
                    .texts(rows.map(\.owner.user.text)),
                    .texts(rows.map(\.receipts.delivered.text)),
                    .texts(rows.map(\.receipts.read.text)),
                ])
                WHERE TRUE
                ON CONFLICT (application, conversation, user_id) DO UPDATE SET
                    delivered = excluded.delivered, read = excluded.read
                """
            }
        }
        transaction.cache(receipts, for: Receipts.cacheKey(of: owner, in: application))
        transaction.invalidate([.allReceipts(of: owner.conversation, in: application)])
    }

    /// Adds narrow gaps between positions that contain no message of another sender.
    ///
    /// A user's own messages and deleted ones need no receipt (R77). Without this, each would start another interval, and
    /// for a user that sends and reads in turn the number of intervals would grow with the conversation.
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

    /// The maximum distance between two intervals for which the messages between them are looked up.
    private static var widestGap: Int64 { NearbyMessages.distance }

    /// Subtracts read messages from the unread count. When no position is left to read, the count is set to zero, so that
    /// marking a long conversation as read need not count its messages (R74, R75).
    ///
    /// - Parameters:
    ///   - positions: The positions that are read now.
    ///   - read: All positions that the participant has read, including these.
    private func subtractFromUnread(
        of reader: Participant, after positions: IntervalSet, knowing read: IntervalSet,
        _ owner: ReceiptOwner
    ) throws {
        guard var counts = try transaction.viewCounts(of: owner, in: application),
            let conversation = try transaction.queryLocked(owner.conversation, in: application)
                .first()
        else { return }
        let last = conversation.lastPosition
        let countable = reader.stay(upTo: last).intersection(reader.range(upTo: last))
        var rest = countable.subtracting(read)
        if !rest.isEmpty, rest.count <= counts.unshown {
            rest = rest.subtracting(
                try transaction.hiddenPositions(of: owner, within: rest, in: application))
        }
        let unread =
            rest.isEmpty
            ? 0
            : counts.unread(in: conversation)
                - (try transaction.count(
                    othersThan: owner, in: positions.intersection(countable), in: application))
        let stored = counts.set(unread: unread, in: conversation)
        let row = RowCacheKey<(owner: ReceiptOwner, unread: Int64)>(
            of: [.conversation(owner.conversation, in: application, "participants")],
            aspect: Array("unread \(owner.user.text)".utf8))
        transaction.deferWrite(
            (owner, stored), of: row, in: CommitGroup("unread", in: application.bytes)
        ) { [application] rows in
            rows.powerOfTwoChunks(upTo: 256).map { rows in
                """
                UPDATE participants SET unread_count = column3
                FROM \(table: "new", of: [
                    .blobs(rows.map(\.owner.conversation.bytes)),
                    .texts(rows.map(\.owner.user.text)), .integers(rows.map(\.unread)),
                ])
                WHERE application = \(application) AND conversation = column1
                    AND user_id = column2
                """
            }
        }
        transaction.cache(counts, for: ViewCounts.cacheKey(of: owner, in: application))
    }
}
