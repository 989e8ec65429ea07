public import Messaging
import SQL

extension MessagingStore {
    /// Stores a new job and records its start.
    public func startJob(_ job: ConsoleJob, from origin: AuditOrigin) async throws {
        let now = environment.now()
        try await database.write { transaction in
            try transaction.execute(
                """
                INSERT INTO console_jobs (
                    id, kind, application, state, process, actor, started_at, done, total
                ) VALUES (
                    \(job.id), \(job.kind.rawValue), \(job.application), \(job.state.rawValue),
                    \(job.process), \(job.actor), \(job.startedAt), \(job.done), \(job.total)
                )
                """)
            try transaction.record(
                .jobStarted, subject: job.id.uuid, in: job.application, from: origin, at: now)
        }
    }

    /// Lets this process work on a job that has ended or was interrupted.
    ///
    /// - Returns: The job; `nil` if there is none, or a process works on it.
    public func restartJob(
        _ id: ConsoleJob.ID, from origin: AuditOrigin
    ) async throws -> ConsoleJob? {
        let now = environment.now()
        return try await database.write { [process, isShared] transaction in
            guard var job = try transaction.job(id, readBy: process, isShared, at: now),
                job.state != .running
            else { return nil }
            job.state = .running
            job.process = process
            job.startedAt = now
            (job.endedAt, job.error, job.result) = (nil, nil, nil)
            (job.done, job.total) = (0, nil)
            try transaction.execute(
                """
                UPDATE console_jobs SET state = \(job.state.rawValue), process = \(process),
                    started_at = \(now), ended_at = NULL, done = 0, total = NULL, error = NULL,
                    result = NULL
                WHERE id = \(id)
                """)
            try transaction.record(
                .jobStarted, subject: id.uuid, in: job.application, from: origin, at: now)
            return job
        }
    }

    /// Stores how far a job of this process is.
    ///
    /// - Returns: False if the job was deleted, or another process works on it; then its work is to end.
    public func noteJob(_ id: ConsoleJob.ID, done: Int64, total: Int64?) async throws -> Bool {
        try await database.write { [process] transaction in
            try transaction.rowsChanged(
                by: """
                    UPDATE console_jobs SET done = \(done), total = \(total)
                    WHERE id = \(id) AND process = \(process) AND ended_at IS NULL
                    """) == 1
        }
    }

    /// Stores the end of a job of this process, and records it.
    ///
    /// - Returns: False if the job was deleted, or another process works on it.
    public func endJob(_ job: ConsoleJob) async throws -> Bool {
        let now = environment.now()
        return try await database.write { [process] transaction in
            let ended = try transaction.rowsChanged(
                by: """
                    UPDATE console_jobs SET state = \(job.state.rawValue), ended_at = \(now),
                        done = \(job.done), total = \(job.total), error = \(job.error),
                        result = \(job.result)
                    WHERE id = \(job.id) AND process = \(process) AND ended_at IS NULL
                    """)
            guard ended == 1 else { return false }
            try transaction.record(
                job.state == .done ? .jobFinished : .jobFailed, subject: job.id.uuid,
                in: job.application,
                from: AuditOrigin(actor: job.actor, address: nil, request: nil), at: now)
            return true
        }
    }

    /// Deletes a job; if a process works on it, its work ends.
    ///
    /// - Parameter application: The only application whose jobs may be deleted; `nil` for all jobs.
    /// - Returns: The job; `nil` if there is none.
    public func deleteJob(
        _ id: ConsoleJob.ID, of application: Application.ID?, from origin: AuditOrigin
    ) async throws -> ConsoleJob? {
        let now = environment.now()
        return try await database.write { [process, isShared] transaction in
            guard let job = try transaction.job(id, readBy: process, isShared, at: now),
                application == nil || job.application == application
            else { return nil }
            try transaction.execute("DELETE FROM console_jobs WHERE id = \(id)")
            try transaction.record(
                .jobDeleted, subject: id.uuid, in: job.application, from: origin, at: now)
            return job
        }
    }

    /// A job; `nil` if there is none.
    public func job(_ id: ConsoleJob.ID) async throws -> ConsoleJob? {
        let now = environment.now()
        return try await database.read { [process, isShared] transaction in
            try transaction.job(id, readBy: process, isShared, at: now)
        }
    }

    /// The latest hundred jobs, newest first.
    ///
    /// - Parameter application: The only application whose jobs are listed; `nil` for all.
    public func jobs(of application: Application.ID?) async throws -> [ConsoleJob] {
        let now = environment.now()
        return try await database.read { [process, isShared] transaction in
            try transaction.rows(.jobs(of: application)) { row in try ConsoleJob(row) }
                .map { job in
                    try transaction.markingInterrupted(job, readBy: process, isShared, at: now)
                }
        }
    }

    /// Deletes the jobs that ended before a moment, and those that began before it and were interrupted.
    public func trimJobs(before moment: Timestamp) async throws {
        let alive = Timestamp(
            milliseconds: environment.now().milliseconds - ServerProcess.lifetime)
        try await database.write { [process] transaction in
            try transaction.execute(
                """
                DELETE FROM console_jobs
                WHERE ended_at < \(moment) OR (
                    ended_at IS NULL AND started_at < \(moment) AND process <> \(process)
                    AND NOT EXISTS (
                        SELECT 1 FROM processes p
                        WHERE p.id = console_jobs.process AND p.last_seen_at > \(alive)
                    )
                )
                """)
        }
    }
}

extension SQL {
    /// The latest hundred jobs, newest first.
    static func jobs(of application: Application.ID?) -> SQL {
        let one: SQL = application.map { id -> SQL in "AND application = \(id)" } ?? ""
        return """
            SELECT \(raw: ConsoleJob.columns) FROM console_jobs
            WHERE started_at <= \(Int64.max) \(one)
            ORDER BY started_at DESC LIMIT 100
            """
    }
}

extension Transaction {
    fileprivate func job(
        _ id: ConsoleJob.ID, readBy process: String, _ isShared: Bool, at now: Timestamp
    ) throws -> ConsoleJob? {
        try first("SELECT \(raw: ConsoleJob.columns) FROM console_jobs WHERE id = \(id)") { row in
            try ConsoleJob(row)
        }.map { job in try markingInterrupted(job, readBy: process, isShared, at: now) }
    }

    /// A stored job, as `interrupted` if its process has ended. A database file has one process: every other has ended.
    fileprivate func markingInterrupted(
        _ job: ConsoleJob, readBy process: String, _ isShared: Bool, at now: Timestamp
    ) throws -> ConsoleJob {
        guard job.state == .running, job.process != process else { return job }
        if isShared, try isProcessRunning(job.process, at: now) { return job }
        var job = job
        job.state = .interrupted
        return job
    }
}

extension ConsoleJob {
    fileprivate static let columns: StaticString =
        "id, kind, application, state, process, actor, started_at, ended_at, done, total, error, result"

    /// Reads ``columns``.
    fileprivate init(_ row: borrowing Row) throws {
        guard let kind = Kind(rawValue: try row.text(1)) else {
            throw StoreFault.unreadable("console_jobs.kind")
        }
        guard let state = State(rawValue: try row.text(3)) else {
            throw StoreFault.unreadable("console_jobs.state")
        }
        self.init(
            id: try row.id(0), kind: kind, application: try row.optionalID(2), state: state,
            process: try row.text(4), actor: try row.text(5), startedAt: try row.timestamp(6),
            endedAt: try row.optionalTimestamp(7), done: try row.int64(8),
            total: try row.optionalInt64(9), error: try row.optionalText(10),
            result: try row.optionalText(11))
    }
}
