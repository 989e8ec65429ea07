public import Messaging
import SQL

extension MessagingStore {
    /// Sets the public key that archives are encrypted for.
    public func setExportKey(_ key: ExportKey, in application: Application.ID) async throws {
        try await change(in: application) { context in
            guard try context.transaction.exportKey(in: application) != key else { return }
            try context.record(.exportKeyChanged(ExportKeyChanged(key: key)))
        }
    }

    /// The public key that archives are encrypted for.
    ///
    /// - Throws: `Rejection.notFound(.exportKey)` when none is set.
    public func exportKey(in application: Application.ID) async throws -> ExportKey {
        let key = try await database.read { transaction in
            try transaction.exportKey(in: application)
        }
        guard let key else { throw Rejection.notFound(.exportKey) }
        return key
    }

    /// Requests a historical export: one of all conversations and messages.
    ///
    /// - Throws: `Rejection.invalidOperation` without a key, and within a day of the last request, also when
    ///   that export was deleted.
    public func requestExport(in application: Application.ID) async throws -> Export {
        let id: Export.ID = environment.newID()
        return try await change(in: application) { context in
            let transaction = context.transaction
            guard let key = try transaction.exportKey(in: application) else {
                throw Rejection.invalidOperation(.noExportKey)
            }
            if let last = try transaction.lastHistoricalExport(in: application) {
                let waited = context.now.milliseconds - last.milliseconds
                guard waited >= Export.historicalInterval else {
                    throw Rejection.invalidOperation(.recentExport)
                }
            }
            let export = Export(
                id: id, scope: .historical, publicKey: key.der, createdAt: context.now)
            try context.record(.exportRequested(ExportRequested(export: export, schedule: nil)))
            return export
        }
    }

    /// The export with an id, unless it was deleted.
    ///
    /// - Throws: `Rejection.notFound(.export)`.
    public func export(_ id: Export.ID, in application: Application.ID) async throws -> Export {
        let export = try await database.read { transaction in
            try transaction.export(id, in: application)
        }
        guard let export else { throw Rejection.notFound(.export) }
        return export
    }

    /// A page of exports, newest first.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    ///   - isCounted: Whether the page has the total.
    /// - Throws: `Rejection.notFound(.export)` for an unknown `after`.
    public func exports(
        after: Export.ID? = nil, limit: Int, isCounted: Bool = true,
        in application: Application.ID
    ) async throws -> ListPage<Export> {
        try await database.read { transaction in
            if let after, try transaction.export(after, in: application) == nil {
                throw Rejection.notFound(.export)
            }
            // Ids are time-ordered, because all of them are created by this server.
            let items = try transaction.rows(
                """
                SELECT \(raw: Export.columns) FROM exports
                WHERE application = \(application) AND deleted_at IS NULL
                    AND id < \(after?.bytes ?? Self.afterAllIDs)
                ORDER BY id DESC LIMIT \(limit)
                """
            ) { row in try Export(row) }
            guard isCounted else { return ListPage(items: items, total: nil) }
            let total = try transaction.first(
                """
                SELECT COUNT(*) FROM exports
                WHERE application = \(application) AND deleted_at IS NULL
                """
            ) { row in try row.int64(0) }
            return ListPage(items: items, total: total ?? 0)
        }
    }

    /// Bytes that are greater than every id, which has 16 bytes.
    static var afterAllIDs: [UInt8] { [UInt8](repeating: 0xFF, count: 17) }

    /// Deletes an export; its archive is deleted later.
    ///
    /// - Throws: `Rejection.notFound(.export)`.
    public func deleteExport(_ id: Export.ID, in application: Application.ID) async throws {
        try await change(in: application) { context in
            guard try context.transaction.export(id, in: application) != nil else {
                throw Rejection.notFound(.export)
            }
            try context.record(.exportDeleted(ExportDeleted(export: id, at: context.now)))
        }
    }

    /// The export of any application with a complete archive, for a request with a signed URL.
    ///
    /// - Returns: `nil` when there is none.
    public func signedExport(_ id: Export.ID) async throws -> Export? {
        try await database.read { transaction in
            try transaction.first(
                """
                SELECT \(raw: Export.columns) FROM exports
                WHERE id = \(id) AND completed_at IS NOT NULL AND expired_at IS NULL
                    AND deleted_at IS NULL
                """
            ) { row in try Export(row) }
        }
    }
}

extension MessagingStore {
    /// The schedule of daily exports of an application.
    public func exportSchedule(in application: Application.ID) async throws -> ExportSchedule {
        try await database.read { transaction in
            try transaction.exportSchedule(in: application)
        }
    }

    /// Changes the schedule of daily exports.
    ///
    /// - Throws: `Rejection.invalidOperation` for daily exports without a key.
    public func setExportSchedule(
        _ interval: ExportSchedule.Interval, _ topics: [WebhookTopic],
        in application: Application.ID
    ) async throws -> ExportSchedule {
        try await change(in: application) { context in
            let transaction = context.transaction
            if interval == .daily, try transaction.exportKey(in: application) == nil {
                throw Rejection.invalidOperation(.noExportKey)
            }
            let schedule = try transaction.exportSchedule(in: application)
            let changed = schedule.changing(
                to: interval, topics, from: try transaction.endOfLog(in: application),
                at: context.now)
            if changed != schedule {
                try context.record(.exportScheduleChanged(ExportScheduleChanged(schedule: changed)))
            }
            return changed
        }
    }

    /// Requests the daily exports of all applications that are due.
    public func requestDueExports() async throws {
        let now = environment.now()
        let due = try await database.read { transaction in
            try transaction.rows(
                """
                SELECT application FROM export_schedules
                WHERE next_at IS NOT NULL AND next_at <= \(now)
                """
            ) { row in try row.id(0) as Application.ID }
        }
        for application in due { try await requestDueExport(in: application) }
    }

    private func requestDueExport(in application: Application.ID) async throws {
        let id: Export.ID = environment.newID()
        try await change(in: application) { context in
            let transaction = context.transaction
            let schedule = try transaction.exportSchedule(in: application)
            guard let next = schedule.nextAt, next <= context.now,
                let key = try transaction.exportKey(in: application)
            else { return }
            let end = try transaction.endOfLog(in: application)
            let period = Export.Period(
                after: schedule.position, through: end, topics: schedule.topics)
            let export = Export(
                id: id, scope: .scheduled(period), publicKey: key.der, createdAt: context.now)
            try context.record(
                .exportRequested(
                    ExportRequested(
                        export: export,
                        schedule: schedule.following(id, through: end, at: context.now))))
        }
    }
}
