import Messaging
import SQL

extension Projection {
    /// Adds and removes participants. A distinct conversation becomes an ordinary one permanently (R5).
    func apply(_ change: ParticipantsChanged) throws {
        let id = change.conversation
        guard let before = try transaction.queryLocked(id, in: application).first() else { return }
        save(before)
        try saveParticipants(of: id)
        for user in change.removed { touch(.view, id.bytes, of: user) }
        try transaction.execute(
            """
            UPDATE conversations SET
                is_distinct = 0, distinct_key = NULL, version = version + 1,
                participant_count = \(change.participants.count), is_wide = \(change.isWide),
                changed = \(position)
            WHERE application = \(application) AND id = \(id)
            """)
        var after = before
        after.isDistinct = false
        after.version += 1
        after.participantCount = change.participants.count
        after.isWide = change.isWide
        let added = Set(change.added)
        let stayed = change.participants.users.filter { user in !added.contains(user) }
        try disconnect(change.removed, among: stayed + change.removed, of: before)
        try leave(change.removed, before, after: change.after)
        if before.isWide != change.isWide {
            if change.isWide { try rememberUnfollowed(in: id) }
            try disconnect(stayed, among: stayed, of: before)
            try setWide(change.isWide, before)
            // Follows beyond this conversation stay as they are.
            try connect(stayed, among: stayed, of: after, isKept: false)
        }
        try join(change.added, after, after: change.after)
        try connect(change.added, among: change.participants.users, of: after)
        try order(change.participants.users, of: id)
    }

    /// Stores the order of the current participants, unless it is the stored one.
    private func order(_ users: [UserID], of conversation: Conversation.ID) throws {
        guard
            try transaction.currentParticipants(of: conversation, in: application).users != users
        else { return }
        for chunk in Array(users.enumerated()).powerOfTwoChunks(upTo: 1024) {
            try transaction.execute(
                """
                UPDATE participants SET place = named.column2
                FROM \(table: "named", of: [
                    .texts(chunk.map(\.element.text)), .integers(chunk.map { Int64($0.offset) }),
                ])
                WHERE application = \(application) AND conversation = \(conversation)
                    AND user_id = named.column1
                """)
        }
    }

    /// Makes the rows of the current participants relative to the number of messages, or absolute again.
    ///
    /// - Parameters:
    ///   - users: Only these participants; `nil` for all.
    ///   - conversation: The conversation, whose message count is current.
    func setWide(
        _ isWide: Bool, _ conversation: Conversation, only users: [UserID]? = nil
    ) throws {
        let step = isWide ? -conversation.messageCount : conversation.messageCount
        for chunk in users.map({ users in users.chunks(of: 4096).map(Optional.some) }) ?? [nil] {
            let isNamed: SQL = chunk.map { chunk in "AND user_id \(in: chunk)" } ?? ""
            try transaction.execute(
                """
                UPDATE participants SET
                    is_wide = \(isWide), total_count = total_count + \(step),
                    unread_count = unread_count + \(step), last_position = NULL,
                    last_message = NULL, last_at = conversation_created_at
                WHERE application = \(application) AND conversation = \(conversation.id)
                    AND left_after IS NULL AND is_wide = \(!isWide) \(isNamed)
                """)
            guard !isWide else { continue }
            try findLastMessages(in: conversation.id, where: "left_after IS NULL \(isNamed)")
        }
    }

    /// Adds users, some of which may be former participants; only messages from now on can be unread (R12, R15).
    ///
    /// - Parameters:
    ///   - conversation: The conversation after the change.
    ///   - last: The last position of the conversation.
    private func join(
        _ users: [UserID], _ conversation: Conversation, after last: Position
    ) throws {
        guard !users.isEmpty else { return }
        let (id, isAnnounced) = (conversation.id, conversation.isAnnounced)
        let place = try transaction.first(
            """
            SELECT COALESCE(MAX(place), -1) FROM participants
            WHERE application = \(application) AND conversation = \(id) AND left_after IS NULL
            """
        ) { row in try row.int(0) }
        let next = (place ?? -1) + 1
        // Before the first message there is nothing to hide or to look up.
        let special = try formerOrBlocking(users, in: id, isBlockSeen: last > .start)
        let plain = users.filter { user in !special.contains(user) }
        let newest = last > .start && !conversation.isWide ? try newestMessage(of: id) : nil
        try insertParticipants(
            plain, from: next, of: conversation, after: last, isShown: isAnnounced, seeing: newest)
        try createParticipants(plain, isShown: isAnnounced)
        if isAnnounced { touchWindows(of: id, plain) }
        for (place, user) in users.filter(special.contains).enumerated() {
            try join(user, at: next + plain.count + place, conversation, after: last)
        }
    }

    /// The users that have been participants before, or are part of a block, which may hide messages from them.
    private func formerOrBlocking(
        _ users: [UserID], in conversation: Conversation.ID, isBlockSeen: Bool
    ) throws -> Set<UserID> {
        var found: Set<UserID> = []
        for chunk in users.chunks(of: 1024) {
            found.formUnion(
                try transaction.rows(
                    """
                    SELECT user_id FROM participants
                    WHERE application = \(application) AND conversation = \(conversation)
                        AND user_id \(in: chunk)
                    """
                ) { row in try row.user(0) })
            guard isBlockSeen else { continue }
            for table in ["blocks", "past_blocks"] as [StaticString] {
                for side in ["owner", "blocked"] as [StaticString] {
                    found.formUnion(
                        try transaction.rows(
                            """
                            SELECT DISTINCT \(raw: side) FROM \(raw: table)
                            WHERE application = \(application) AND \(raw: side) \(in: chunk)
                            """
                        ) { row in try row.user(0) })
                }
            }
        }
        return found
    }

    private func newestMessage(of conversation: Conversation.ID) throws -> NewestMessage? {
        try transaction.first(
            """
            SELECT id, position, sent_at FROM messages
            WHERE application = \(application) AND conversation = \(conversation)
            ORDER BY position DESC LIMIT 1
            """
        ) { row in
            NewestMessage(
                id: try row.id(0), position: try row.position(1), sentAt: try row.timestamp(2))
        }
    }

    /// Adds one of these users, which sees the conversation at once if it is announced (R53).
    private func join(
        _ user: UserID, at place: Int, _ conversation: Conversation, after last: Position
    ) throws {
        let id = conversation.id
        let former = try transaction.participant(user, in: id, in: application)
        // Before the first message there is nothing to hide or to look up.
        let hidden =
            last > .start
            ? try hideBlocked(from: user, in: id, after: former?.leftAfter ?? .start)
            : (count: 0, isAll: false)
        let isShown = conversation.isAnnounced && !hidden.isAll
        if let former {
            try restore(
                former, at: place, id, after: last, isShown: isShown,
                hiding: hidden.count)
            // `restore` has counted the conversation. The user exists, but their identity may have been deleted.
            try createParticipants([user], isShown: false)
        } else {
            try insertParticipant(
                user, at: place, id, after: last, isShown: isShown,
                hiding: hidden.count)
            try createParticipants([user], isShown: isShown)
            if isShown { touchWindows(of: id, [user]) }
        }
        if conversation.isWide { try setWide(true, conversation, only: [user]) }
        guard last > .start else { return }
        try findLastMessage(in: id, of: user, insteadOf: nil)
    }

    /// Inserts the row of a user that has never been a participant; ``createParticipants(_:isShown:following:)`` creates the user.
    ///
    /// - Parameter hidden: The number of messages hidden by blocks.
    private func insertParticipant(
        _ user: UserID, at place: Int, _ conversation: Conversation.ID, after last: Position,
        isShown: Bool, hiding hidden: Int64
    ) throws {
        let state = isShown ? ViewState.shown : .unseen
        try transaction.execute(
            """
            INSERT INTO participants (
                application, conversation, user_id, place, past, joined_after, left_after,
                frozen_metadata, conversation_created_at, state, total_count,
                unshown_count, last_at
            ) SELECT
                application, id, \(user), \(place), '', \(last), NULL, NULL, created_at,
                \(state.rawValue), message_count - \(hidden), \(hidden), created_at
            FROM conversations WHERE application = \(application) AND id = \(conversation)
            """,
            reading: [.conversation(conversation, in: application)],
            changing: [.conversation(conversation, in: application, "participants")])
    }

    /// Adds a former participant again. Messages that they deleted for themselves stay hidden; that they had left hides
    /// none (ruling 15).
    private func restore(
        _ former: Participant, at place: Int, _ conversation: Conversation.ID,
        after last: Position, isShown: Bool, hiding hidden: Int64
    ) throws {
        try saveFrozenMetadata(
            of: ReceiptOwner(conversation: conversation, user: former.userID))
        let state = isShown || former.state == .shown ? ViewState.shown : .unseen
        try touchUnread(of: former, in: conversation)
        try transaction.execute(
            """
            UPDATE participants SET
                place = \(place), past = \(former.returning(after: last).past.text),
                joined_after = \(last), left_after = NULL, frozen_metadata = NULL,
                state = \(state.rawValue), shown_from = NULL, unread_count = 0,
                unshown_count = unshown_count + \(hidden),
                total_count = (
                    SELECT message_count FROM conversations
                    WHERE application = \(application) AND id = \(conversation)
                ) - unshown_count - \(hidden)
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(former.userID)
            """)
        if state == .shown, former.state != .shown { count(shown: [former.userID], 1) }
        if state == .shown { touchWindows(of: conversation, [former.userID]) }
    }

    /// Notes that the messages that a former participant has not read are no longer unread after they return (R12).
    private func touchUnread(of former: Participant, in conversation: Conversation.ID) throws {
        let owner = ReceiptOwner(conversation: conversation, user: former.userID)
        let unread = former.stay(upTo: former.leftAfter ?? .start).subtracting(
            try transaction.receipts(of: owner, in: application).read)
        for interval in unread.intervals {
            let messages = try transaction.rows(
                """
                SELECT id FROM messages
                WHERE application = \(application) AND conversation = \(conversation)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND sender_user IS DISTINCT FROM \(former.userID)
                """
            ) { row in try row.id(0) as Message.ID }
            for message in messages { touch(.viewedMessage, message.bytes, of: former.userID) }
        }
    }

    /// Makes participants former ones, which see the messages and metadata up to now (R14).
    ///
    /// - Parameter conversation: The conversation before the change.
    private func leave(
        _ users: [UserID], _ conversation: Conversation, after last: Position
    ) throws {
        if conversation.isWide { try setWide(false, conversation, only: users) }
        for chunk in users.chunks(of: 4096) {
            try transaction.execute(
                """
                UPDATE participants SET
                    left_after = \(last), frozen_metadata = \(conversation.metadata.columnBytes)
                WHERE application = \(application) AND conversation = \(conversation.id)
                    AND user_id \(in: chunk)
                """)
        }
    }
}

/// The last message of a conversation.
struct NewestMessage {
    let id: Message.ID
    let position: Position
    let sentAt: Timestamp
}
