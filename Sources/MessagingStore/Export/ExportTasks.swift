public import Messaging
import SQL

/// An export that somebody has to work on.
public struct ExportTask: Equatable, Sendable {
    /// What is to be done.
    public enum Kind: String, Sendable {
        /// Its archive is to be made.
        case write
        /// Its archive is to be removed.
        case erase
    }

    /// Whose export it is.
    public let application: Application.ID
    /// The export.
    public let export: Export
    /// What is to be done.
    public let kind: Kind
}

// What the one who works on exports asks and tells; each step can be repeated after a crash.
extension MessagingStore {
    /// Exports somebody has to work on, of all applications, in the order of their names.
    ///
    /// - Parameters:
    ///   - after: The last one of the stretch before; `nil` for the first stretch. It may be done by now.
    ///   - limit: Most to return; fewer mean that there are no more.
    public func exportTasks(
        after: ExportTask? = nil, limit: Int = 100
    ) async throws -> [ExportTask] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT \(raw: Export.columns), application, task FROM exports
                WHERE task IS NOT NULL
                    AND (application, id)
                        > (\(after?.application.bytes ?? []), \(after?.export.id.bytes ?? []))
                ORDER BY application, id LIMIT \(limit)
                """
            ) { row in
                guard let kind = ExportTask.Kind(rawValue: try row.text(15)) else {
                    throw StoreFault.unreadable("exports.task")
                }
                return ExportTask(
                    application: try row.id(14), export: try Export(row), kind: kind)
            }
        }
    }

    /// Tells that work on an archive begins; when it begins anew there is nothing to tell.
    ///
    /// - Returns: False when it is not wanted any more.
    public func startExport(_ id: Export.ID, in application: Application.ID) async throws -> Bool {
        try await change(in: application) { context in
            guard let export = try context.transaction.export(id, in: application),
                export.archive == nil
            else { return false }
            if export.startedAt == nil {
                try context.record(.exportStarted(id, at: context.now))
            }
            return true
        }
    }

    /// Tells that an archive is complete and durable; nothing when it is not wanted any more.
    ///
    /// - Returns: Whether it is the one that is handed out.
    @discardableResult
    public func completeExport(
        _ id: Export.ID, _ archive: Export.Archive, in application: Application.ID
    ) async throws -> Bool {
        try await change(in: application) { context in
            guard let export = try context.transaction.export(id, in: application),
                export.archive == nil
            else { return false }
            try context.record(.exportCompleted(id, archive, at: context.now))
            return true
        }
    }

    /// Ends every archive whose time is over, of all applications.
    public func expireExports() async throws {
        let last = environment.now().milliseconds - Export.lifetime
        let due = try await database.read { transaction in
            try transaction.rows(
                """
                SELECT application, id FROM exports
                WHERE completed_at IS NOT NULL AND task IS NULL AND expired_at IS NULL
                    AND completed_at <= \(last)
                """
            ) { row in (try row.id(0) as Application.ID, try row.id(1) as Export.ID) }
        }
        for (application, id) in due {
            try await change(in: application) { context in
                guard let export = try context.transaction.export(id, in: application),
                    export.expiredAt == nil
                else { return }
                try context.record(.exportExpired(id, at: context.now))
            }
        }
    }

    /// Tells that the archive of a deleted or expired export has gone.
    public func eraseExport(_ id: Export.ID, in application: Application.ID) async throws {
        try await change(in: application) { context in
            try context.record(.exportErased(id))
        }
    }
}

// All rows in stretches: a place and not a transaction is kept between them, because a long look
// would keep the write-ahead log from being emptied.
extension MessagingStore {
    /// Living conversations in the order of their ids.
    ///
    /// - Parameters:
    ///   - after: The last one of the stretch before; `nil` for the first stretch.
    ///   - moment: Younger ones are left out, so that the end is reached.
    ///   - limit: Most to return; fewer mean that there are no more.
    public func conversations(
        after: Conversation.ID?, createdUntil moment: Timestamp, limit: Int,
        in application: Application.ID
    ) async throws -> [ConversationSnapshot] {
        try await database.read { transaction in
            let ids = try transaction.rows(
                """
                SELECT id FROM conversations
                WHERE application = \(application) AND id > \(after?.bytes ?? [])
                    AND deleted_at IS NULL AND created_at <= \(moment)
                ORDER BY id LIMIT \(limit)
                """
            ) { row in try row.id(0) as Conversation.ID }
            return try ids.compactMap { id in
                try transaction.storedConversation(id, in: application).map { conversation in
                    try transaction.snapshot(of: conversation, in: application)
                }
            }
        }
    }

    /// Whether conversations have been merged since a place of the log: messages are then no more where a
    /// look in stretches has been, or will be.
    public func hasMerged(since place: LogPosition, in application: Application.ID) async throws
        -> Bool
    {
        try await database.read { transaction in
            // In the words of the index, so that it is read.
            try transaction.first(
                """
                SELECT 1 FROM events
                WHERE application = \(application) AND kind = 'conversation.merged'
                    AND position > \(place)
                LIMIT 1
                """
            ) { _ in true } ?? false
        }
    }

    /// Messages of living conversations, each conversation's together and in their order.
    ///
    /// - Parameters:
    ///   - after: The last one of the stretch before; `nil` for the first stretch.
    ///   - moment: Younger ones are left out, so that the end is reached.
    ///   - limit: Most to return; fewer mean that there are no more.
    public func messages(
        after: Message?, sentUntil moment: Timestamp, limit: Int, in application: Application.ID
    ) async throws -> [MessageSnapshot] {
        try await database.read { transaction in
            let ids = try transaction.rows(
                """
                SELECT m.id FROM messages m
                JOIN conversations c ON c.application = m.application AND c.id = m.conversation
                WHERE m.application = \(application)
                    AND (m.conversation, m.position)
                        > (\(after?.conversation.bytes ?? []), \(after?.position ?? .start))
                    AND m.sent_at <= \(moment) AND c.deleted_at IS NULL
                ORDER BY m.conversation, m.position LIMIT \(limit)
                """
            ) { row in try row.id(0) as Message.ID }
            let found = try transaction.messages(ids, in: application)
            return try transaction.snapshots(
                of: ids.compactMap { id in found[id] }, in: application)
        }
    }
}
