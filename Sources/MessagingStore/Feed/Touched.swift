public import Messaging
import SQL

/// What a row of `touched` says of its object; the raw value is the column `kind`.
///
/// Messages and conversations have their latest change in the column `changed` of their own rows, which a query of a feed
/// reads with these kinds too.
///
/// The first kinds stand in the stream of a conversation, which all its participants read, the others in that of a
/// user. An id could be equal to a user id as bytes, so both streams are distinguished by their kinds.
enum TouchedKind: Int64 {
    /// What current participants see of the conversation has changed: no row of `touched`, but `conversations.changed`.
    case conversation = 1
    /// The counts or the last message have changed, for former participants as well.
    case counts = 2
    /// All participants that see the conversation receive its window again.
    case window = 3
    /// A message. One that exists is not a row of `touched`, but has `messages.changed`.
    case message = 4
    /// The receipts of a participant. The id is the user id.
    case receipts = 5
    /// An alias of the conversation, which was a conversation until a merge.
    case alias = 6

    /// What the user alone sees of a conversation has changed.
    case view = 11
    /// The user receives the window of a conversation again, or does not see the conversation any more.
    case viewWindow = 12
    /// A message that the user has deleted from their view, or that has become read without a receipt.
    case viewedMessage = 13
    /// A user that is not followed any more.
    case unfollowed = 14
}

/// The latest change of an object in a stream: a row of `touched`.
private struct Touch {
    let stream: [UInt8]
    let kind: TouchedKind
    let id: [UInt8]
    let position: LogPosition
    /// When the object ceased to exist in the stream; `nil` while it exists.
    let goneAt: Timestamp?
    /// The position of a deleted message in its conversation; `nil` for other objects.
    let place: Position?
}

// The feed of a user is read from `touched` (Y1), and so is every change that a user can see.
extension Projection {
    /// Notes that an object of a conversation has changed, once for all changes of a commit.
    ///
    /// - Parameters:
    ///   - id: `nil` for the conversation itself.
    ///   - isGone: Whether the object does not exist any more.
    ///   - place: The position of a deleted message.
    func touch(
        _ kind: TouchedKind, _ id: [UInt8]? = nil, in conversation: Conversation.ID,
        isGone: Bool = false, at place: Position? = nil
    ) {
        touch(conversation.bytes, kind, id ?? conversation.bytes, isGone: isGone, at: place)
    }

    /// Notes that what a user sees of an object has changed, once for all changes of a commit.
    ///
    /// - Parameter isGone: Whether the user does not see the object any more.
    func touch(_ kind: TouchedKind, _ id: [UInt8], of user: UserID, isGone: Bool = false) {
        touch(Array(user.text.utf8), kind, id, isGone: isGone, at: nil)
    }

    private func touch(
        _ stream: [UInt8], _ kind: TouchedKind, _ id: [UInt8], isGone: Bool, at place: Position?
    ) {
        // With the length of the stream no two rows have the same key.
        let length = [UInt8(truncatingIfNeeded: stream.count >> 8), UInt8(stream.count & 0xFF)]
        let row = RowCacheKey<Touch>(
            of: application.bytes + [UInt8(kind.rawValue)] + length + stream + id, in: "touched")
        transaction.deferWrite(
            Touch(
                stream: stream, kind: kind, id: id, position: position,
                goneAt: isGone ? moment : nil, place: place),
            of: row, in: CommitGroup("touched", in: application.bytes)
        ) { [application] touches in
            touches.powerOfTwoChunks(upTo: 256).map { touches in
                """
                INSERT INTO touched (application, stream, kind, id, position, gone_at, place)
                SELECT \(application), column1, column2, column3, column4, column5, column6
                FROM \(table: "new", of: [
                    .blobs(touches.map(\.stream)), .integers(touches.map(\.kind.rawValue)),
                    .blobs(touches.map(\.id)), .integers(touches.map(\.position.number)),
                    .integers(touches.map { touch in touch.goneAt?.milliseconds ?? 0 }),
                    .integers(touches.map { touch in touch.place?.number ?? 0 }),
                ])
                WHERE TRUE
                ON CONFLICT (application, stream, kind, id) DO UPDATE SET
                    position = excluded.position, gone_at = excluded.gone_at,
                    place = excluded.place
                """
            }
        }
    }

    /// Moves the deleted messages and the aliases of a merged conversation to the stream of the winner, where the other
    /// rows are written again.
    func moveTouched(of loser: Conversation.ID, to winner: Conversation.ID) throws {
        let moved = [TouchedKind.message, .alias].map(\.rawValue)
        try transaction.execute(
            """
            DELETE FROM touched WHERE application = \(application) AND stream = \(loser)
                AND kind \(notIn: .integers(moved))
                AND kind <= \(TouchedKind.alias.rawValue)
            """)
        try transaction.execute(
            """
            UPDATE touched SET stream = \(winner)
            WHERE application = \(application) AND stream = \(loser)
                AND kind \(in: .integers(moved))
            """)
        touch(.alias, loser.bytes, in: winner, isGone: true)
    }
}

extension MessagingStore {
    /// How long the feed names objects that do not exist any more, in milliseconds: 90 days (Y1).
    public static let feedRetention: Int64 = 90 * 86_400_000

    /// Deletes the feeds' rows of objects that ceased to exist before a moment. A client that has not read its feed since
    /// then receives everything again.
    public func trimFeeds(before moment: Timestamp) async throws {
        try await repeatInEachApplication { application in
            try await trimFeed(of: application, before: moment)
        }
    }

    /// Deletes the oldest rows of an application; of objects that ceased to exist at one time all or none.
    ///
    /// - Returns: Whether there may be more.
    private func trimFeed(
        of application: Application.ID, before moment: Timestamp
    ) async throws -> Bool {
        let batchSize = 1000
        return try await database.write { transaction in
            let end = try transaction.first(
                """
                SELECT gone_at FROM touched
                WHERE application = \(application) AND gone_at > 0 AND gone_at < \(moment)
                ORDER BY gone_at LIMIT 1 OFFSET \(batchSize - 1)
                """
            ) { row in try row.int64(0) }
            let old: SQL =
                """
                application = \(application) AND gone_at > 0
                    AND gone_at <= \(end ?? moment.milliseconds - 1)
                """
            let last = try transaction.first("SELECT MAX(position) FROM touched WHERE \(old)") {
                row in try row.optionalInt64(0)
            }
            guard let last = last.flatMap(\.self) else { return false }
            try transaction.execute("DELETE FROM touched WHERE \(old)")
            try transaction.execute(
                """
                UPDATE log_positions SET touched_trimmed = \(last)
                WHERE application = \(application) AND touched_trimmed < \(last)
                """)
            return end != nil
        }
    }
}
