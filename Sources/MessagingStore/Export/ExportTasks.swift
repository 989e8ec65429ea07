public import Messaging
import SQL

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
        try await change(in: application) { recording in
            guard let export = try recording.transaction.export(id, in: application),
                export.archive == nil
            else { return false }
            if export.startedAt == nil {
                try recording.record(.exportStarted(id, at: recording.now))
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
        try await change(in: application) { recording in
            guard let export = try recording.transaction.export(id, in: application),
                export.archive == nil
            else { return false }
            try recording.record(.exportCompleted(id, archive, at: recording.now))
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
            try await change(in: application) { recording in
                guard let export = try recording.transaction.export(id, in: application),
                    export.expiredAt == nil
                else { return }
                try recording.record(.exportExpired(id, at: recording.now))
            }
        }
    }

    /// Tells that the archive of a deleted or expired export has gone.
    public func eraseExport(_ id: Export.ID, in application: Application.ID) async throws {
        try await change(in: application) { recording in
            try recording.record(.exportErased(id))
        }
    }
}
