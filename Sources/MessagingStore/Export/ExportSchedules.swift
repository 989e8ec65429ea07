public import Messaging
import SQL

extension MessagingStore {
    /// Whether and what an application is told of daily.
    public func exportSchedule(in application: Application.ID) async throws -> ExportSchedule {
        try await database.read { transaction in
            try transaction.exportSchedule(in: application)
        }
    }

    /// Changes the schedule.
    ///
    /// - Throws: `Rejection.invalidOperation` for daily exports without a key to seal them for.
    public func setExportSchedule(
        _ interval: ExportSchedule.Interval, _ topics: [Topic], in application: Application.ID
    ) async throws -> ExportSchedule {
        try await change(in: application) { recording in
            let transaction = recording.transaction
            if interval == .daily, try transaction.exportKey(in: application) == nil {
                throw Rejection.invalidOperation(.noExportKey)
            }
            let schedule = try transaction.exportSchedule(in: application)
            let changed = schedule.changing(
                to: interval, topics, from: try transaction.endOfLog(in: application),
                at: recording.now)
            if changed != schedule { try recording.record(.exportScheduleChanged(changed)) }
            return changed
        }
    }

    /// Asks for every daily export that is due, of all applications.
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
        try await change(in: application) { recording in
            let transaction = recording.transaction
            let schedule = try transaction.exportSchedule(in: application)
            guard let next = schedule.nextAt, next <= recording.now,
                let key = try transaction.exportKey(in: application)
            else { return }
            let end = try transaction.endOfLog(in: application)
            let period = Export.Period(
                after: schedule.place, through: end, topics: schedule.topics)
            let export = Export(
                id: id, scope: .scheduled(period), publicKey: key.der, createdAt: recording.now)
            try recording.record(
                .exportRequested(
                    export, schedule.following(id, through: end, at: recording.now)))
        }
    }
}
