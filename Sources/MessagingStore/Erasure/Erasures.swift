internal import Bytes
public import Messaging
import SQL

extension MessagingStore {
    /// Requests the erasure of a user (X16). It ends the sessions of the user and deletes the identity; the rest is done by
    /// ``runErasure(_:in:bodies:uploads:)``.
    ///
    /// - Returns: The erasure: the latest one of this user if it is still running, or has been completed and the user does
    ///   not exist again, or has failed and therefore restarts.
    /// - Throws: `Rejection.notFound(.user)` for a user that neither exists nor was erased; `Rejection.userErased` for the
    ///   name of an erased user; `Rejection.full(.erasure)` above `Erasure.runningLimit`.
    public func eraseUser(_ user: UserID, in application: Application.ID) async throws -> Erasure {
        guard !user.isErased else { throw Rejection.userErased(user) }
        let id: Erasure.ID = environment.newID()
        let digest = try await erasureDigest(of: user, in: application)
        let erasure = try await change(in: application) { context in
            try context.beginErasure(id, of: user, digest)
        }
        sessionCache.clear()
        return erasure
    }

    /// A digest that only this database can compute: a completed erasure does not store the id of its user.
    private func erasureDigest(
        of user: UserID, in application: Application.ID
    ) async throws -> [UInt8] {
        let key = try await erasureSecret.value(from: self)
        return Signature.of(
            application.bytes + Array(user.text.utf8), key: key, by: .sha256)
    }

    /// An erasure.
    ///
    /// - Throws: `Rejection.notFound(.erasure)`.
    public func erasure(_ id: Erasure.ID, in application: Application.ID) async throws -> Erasure {
        let found = try await database.read { transaction in
            try transaction.first(
                """
                SELECT \(raw: Erasure.columns) FROM erasures
                WHERE application = \(application) AND id = \(id)
                """
            ) { row in try Erasure(row) }
        }
        guard let found else { throw Rejection.notFound(.erasure) }
        return found
    }

    /// The oldest erasure of each application that can be worked on now.
    public func nextErasures() async throws -> [(application: Application.ID, id: Erasure.ID)] {
        let now = environment.now()
        let due = try await database.read { transaction in
            try transaction.rows(
                """
                SELECT application, id FROM erasures WHERE state = 'running' AND next_at <= \(now)
                ORDER BY application, number
                """
            ) { row in
                (application: try row.id(0) as Application.ID, id: try row.id(1) as Erasure.ID)
            }
        }
        var applications: Set<Application.ID> = []
        return due.filter { erasure in applications.insert(erasure.application).inserted }
    }
}

extension MutationContext {
    fileprivate func beginErasure(
        _ id: Erasure.ID, of user: UserID, _ digest: [UInt8]
    ) throws -> Erasure {
        let last = try transaction.first(
            """
            SELECT \(raw: Erasure.columns) FROM erasures
            WHERE application = \(application) AND user_digest = \(digest)
            ORDER BY number DESC LIMIT 1
            """
        ) { row in try Erasure(row) }
        if let last, last.state == .running { return last }
        let found = try transaction.user(user, in: application)
        if found == nil {
            guard let last else { throw Rejection.notFound(.user) }
            if last.state == .completed { return last }
        }
        guard try transaction.runningErasureCount(in: application) < Erasure.runningLimit else {
            throw Rejection.full(.erasure, limit: Erasure.runningLimit)
        }
        // A failed erasure restarts with its id and number: some rows have its name already, and `erased_contents` lists
        // the contents that it found.
        let failed = last.flatMap { last in last.state == .failed ? last : nil }
        let erasure = Erasure(
            id: failed?.id ?? id,
            number: try failed?.number ?? transaction.nextErasureNumber(in: application),
            state: .running, round: 1, table: nil, isProving: false, requestedAt: now, endedAt: nil,
            counts: [], digest: nil, error: nil)
        // These events still name the user; the job rewrites them.
        let context = namingErasedUsers()
        if let found {
            try context.record(.sessionsEnded(SessionsEnded(user: user, at: now)))
            if found.identityStatus != .unknown {
                try context.record(.identityDeleted(IdentityDeleted(user: user)))
            }
        }
        try transaction.execute(
            """
            INSERT INTO erasures (
                application, id, number, user_id, user_digest, state, round, is_proving, revision,
                counts, next_at, requested_at
            ) VALUES (
                \(application), \(erasure.id), \(erasure.number), \(user), \(digest), 'running', 1, 0,
                0, \(erasure.encodedCounts), \(now), \(now)
            )
            ON CONFLICT (application, id) DO UPDATE SET
                state = 'running', round = 1, current_table = NULL, last_key = NULL, is_proving = 0,
                revision = erasures.revision + 1, counts = excluded.counts, digest = NULL,
                error = NULL, faults = 0, next_at = excluded.next_at,
                requested_at = excluded.requested_at, ended_at = NULL
            """)
        try transaction.addRunningErasures(1, in: application)
        return erasure
    }
}

extension Transaction {
    /// The next number of an erasure whose name no user has, for example after an import.
    fileprivate func nextErasureNumber(in application: Application.ID) throws -> Int64 {
        var number =
            try first(
                """
                SELECT COALESCE(MAX(number), 0) + 1 FROM erasures WHERE application = \(application)
                """
            ) { row in try row.int64(0) } ?? 1
        while try user(.erased(number), in: application) != nil { number += 1 }
        return number
    }

    /// The number of running erasures of an application.
    fileprivate func runningErasureCount(in application: Application.ID) throws -> Int64 {
        try first(
            """
            SELECT COUNT(*) FROM erasures WHERE application = \(application) AND state = 'running'
            """
        ) { row in try row.int64(0) } ?? 0
    }

    /// Counts the running erasures of an application, which events that introduce users check
    /// (``MutationContext/requireUnerased(_:)``).
    func addRunningErasures(_ step: Int64, in application: Application.ID) throws {
        try execute(
            """
            INSERT INTO log_positions (application, position, erasing)
            VALUES (\(application), 0, \(step))
            ON CONFLICT (application) DO UPDATE SET erasing = log_positions.erasing + \(step)
            """)
    }

    /// One of the users whose erasure is running; `nil` if there is none.
    func userBeingErased(
        among users: [UserID], in application: Application.ID
    ) throws -> UserID? {
        for chunk in users.chunks(of: 1024) {
            let found = try first(
                """
                SELECT user_id FROM erasures
                WHERE application = \(application) AND state = 'running' AND user_id \(in: chunk)
                LIMIT 1
                """
            ) { row in try row.user(0) }
            if let found { return found }
        }
        return nil
    }
}

extension MutationContext {
    /// Checks that an event introduces no user that is being erased, and no name of an erased user, before it is recorded.
    ///
    /// - Throws: `Rejection.userErased`.
    func requireUnerased(_ event: Event) throws {
        guard !mayNameErasedUsers else { return }
        if case .recordImported(let imported) = event {
            // An archive may have the names of users that were erased where it was made.
            return try requireNotBeingErased(imported.record.introducedUsers)
        }
        let users = event.introducedUsers
        if let user = users.first(where: \.isErased) { throw Rejection.userErased(user) }
        try requireNotBeingErased(users)
    }

    /// Checks that none of the users is being erased.
    ///
    /// - Throws: `Rejection.userErased`.
    func requireNotBeingErased(_ users: [UserID]) throws {
        guard !users.isEmpty,
            try transaction.queryLogEnd(in: application).first()?.hasErasures == true
        else { return }
        if let user = try transaction.userBeingErased(among: users, in: application) {
            throw Rejection.userErased(user)
        }
    }
}

extension Event {
    /// The users that the event makes part of the application's state, so that they may be neither erased nor being
    /// erased. Users that take part already are not among them, because others must be able to write to their
    /// conversations while these are worked on.
    fileprivate var introducedUsers: [UserID] {
        switch self {
        case .messageSent(let event): event.message.sender.userID.map { [$0] } ?? []
        case .messageScheduled(let event): event.message.draft.sender.userID.map { [$0] } ?? []
        case .conversationCreated(let event): event.conversation.participants.users
        case .participantsChanged(let event): event.added
        case .identityReplaced(let event): [event.identity.userID]
        case .identityPatched(let event): [event.user]
        case .followingChanged(let event):
            event.added.isEmpty ? [] : event.added + [event.follower]
        case .blocksChanged(let event): event.added.isEmpty ? [] : event.added + [event.owner]
        case .badgeSet(let event): [event.user]
        case .userSuspended(let event): [event.user]
        case .sessionCreated(let event): [event.session.user]
        case .contentOwned(let event): [event.owner]
        case .announcementSent(let event):
            event.recipients + (event.announcement.sender.userID.map { [$0] } ?? [])
        case .notificationSent(let event): event.recipients
        default: []
        }
    }
}

extension ArchiveRecord {
    /// The users that importing the record makes part of the application's state.
    fileprivate var introducedUsers: [UserID] {
        switch self {
        case .user(let archived): [archived.user.id]
        case .relations(let archived): [archived.user] + archived.followed + archived.blocked
        case .conversation(let archived): archived.members.map(\.participant.userID)
        case .message(let archived): archived.message.sender.userID.map { [$0] } ?? []
        case .scheduled(let archived): archived.message.draft.sender.userID.map { [$0] } ?? []
        case .content(let archived): archived.owner.map { [$0] } ?? []
        case .announcement(let archived):
            archived.recipients.map(\.user)
                + (archived.announcement.sender.userID.map { [$0] } ?? [])
        case .key, .application: []
        }
    }
}

// MARK: - Rows

extension Erasure {
    /// The columns that ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        """
        id, number, state, round, current_table, is_proving, requested_at, ended_at, counts, digest,
        error
        """
    /// The number of ``columns``.
    static let columnCount = 11

    init(_ row: borrowing Row) throws {
        guard let state = State(rawValue: try row.text(2)) else {
            throw StoreFault.unreadable("erasures.state")
        }
        var reader = ByteReader(try row.blob(8))
        let counts = try reader.each { reader in
            Count(
                try reader.text(), scanned: try reader.number(), erased: try reader.number(),
                remaining: try reader.number())
        }
        try reader.finish()
        self.init(
            id: try row.id(0), number: try row.int64(1), state: state, round: try row.int64(3),
            table: try row.optionalText(4), isProving: try row.bool(5),
            requestedAt: try row.timestamp(6), endedAt: try row.optionalTimestamp(7),
            counts: counts, digest: try row.optionalBlob(9), error: try row.optionalText(10))
    }

    /// The counts, encoded for a column.
    var encodedCounts: [UInt8] {
        var writer = ByteWriter()
        writer.write(each: counts) { writer, count in
            writer.write(count.table)
            writer.write(count.scanned)
            writer.write(count.erased)
            writer.write(count.remaining)
        }
        return writer.bytes
    }
}
