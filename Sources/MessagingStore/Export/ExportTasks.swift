public import Messaging
import SQL

/// An export whose archive is to be written or deleted.
public struct ExportTask: Equatable, Sendable {
    /// What is to be done.
    public enum Kind: String, Sendable {
        /// Write the archive.
        case write
        /// Delete the archive.
        case erase
    }

    /// The application of the export.
    public let application: Application.ID
    /// The export.
    public let export: Export
    /// What is to be done.
    public let kind: Kind
}

// The steps of the export worker; each can be repeated after a crash.
extension MessagingStore {
    /// A page of the tasks of all applications, by application and export id.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page, whose task may be done by now; `nil` for the first page.
    ///   - limit: The maximum number of items; a page with fewer is the last one.
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

    /// Records that the writing of an archive begins; repeating it records nothing.
    ///
    /// - Returns: False when the export was deleted, or has an archive; then none is to be written.
    public func startExport(_ id: Export.ID, in application: Application.ID) async throws -> Bool {
        try await change(in: application) { context in
            guard let export = try context.transaction.export(id, in: application),
                export.archive == nil
            else { return false }
            if export.startedAt == nil {
                try context.record(.exportStarted(ExportStarted(export: id, at: context.now)))
            }
            return true
        }
    }

    /// Records that an archive is complete and durable, unless the export was deleted or already has an archive.
    ///
    /// - Returns: Whether it was recorded, so that this archive is the one offered for download.
    @discardableResult
    public func completeExport(
        _ id: Export.ID, _ archive: Export.Archive, in application: Application.ID
    ) async throws -> Bool {
        try await change(in: application) { context in
            guard let export = try context.transaction.export(id, in: application),
                export.archive == nil
            else { return false }
            try context.record(
                .exportCompleted(ExportCompleted(export: id, archive: archive, at: context.now)))
            return true
        }
    }

    /// Expires the archives of all applications that were completed ``Export/lifetime`` ago or earlier.
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
                try context.record(.exportExpired(ExportExpired(export: id, at: context.now)))
            }
        }
    }

    /// Records that the archive of a deleted or expired export was deleted.
    public func eraseExport(_ id: Export.ID, in application: Application.ID) async throws {
        try await change(in: application) { context in
            try context.record(.exportErased(ExportErased(export: id)))
        }
    }
}

// Reads all rows in pages. Each page is a separate transaction, because a long read transaction would keep the
// write-ahead log from being truncated.
extension MessagingStore {
    /// A page of live conversations by ascending id.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - moment: Conversations that were created later are left out, so that the pages end.
    ///   - limit: The maximum number of items; a page with fewer is the last one.
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

    /// Whether conversations were merged after a position of the log: pages may then miss or repeat messages
    /// that were moved.
    public func hasMerged(since position: LogPosition, in application: Application.ID) async throws
        -> Bool
    {
        try await database.read { transaction in
            // The condition on `kind` is that of the index `events_merged`, so that the index is used.
            try transaction.first(
                """
                SELECT 1 FROM events
                WHERE application = \(application) AND kind = 'conversation.merged'
                    AND position > \(position)
                LIMIT 1
                """
            ) { _ in true } ?? false
        }
    }

    /// A page of messages of live conversations, by conversation and position.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - moment: Messages that were sent later are left out, so that the pages end.
    ///   - limit: The maximum number of items; a page with fewer is the last one.
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
