import Blobs
import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import PlatformAPI
import SystemSupport
import Uploads

/// Runs the jobs of the console in this process: exports, imports and backups.
///
/// A job survives the page that started it. Its row says how far it is; when its process ends before it, other processes
/// and the next start see it as interrupted, and it can be run again: an import reads its stored file once more, in which
/// records that exist stay, a backup continues in its folder, and an export begins again.
final class JobRunner: Sendable {
    /// How often the progress of a job is stored, in milliseconds.
    private static let interval: Int64 = 1000
    /// How often old jobs and files without a job are deleted, in milliseconds.
    private static let cleaningInterval: Int64 = 3_600_000

    private struct State {
        var running: [ConsoleJob.ID: Task<Void, Never>] = [:]
        /// Imports whose file arrives, and whose job is not stored yet.
        var receiving: Set<ConsoleJob.ID> = []
        var isStopping = false
    }

    private let store: MessagingStore
    private let platform: PlatformAPI
    private let files: JobFiles
    private let backup: ConsoleBackup?
    private let clock: @Sendable () -> Timestamp
    private let state = Locked(State())
    private let cleaning = BackgroundTask()

    init(
        store: MessagingStore, platform: PlatformAPI, files: JobFiles, backup: ConsoleBackup?,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.platform = platform
        self.files = files
        self.backup = backup
        self.clock = clock
    }

    /// The account and the request that start a job.
    struct Origin: Sendable {
        let audit: AuditOrigin
        /// The actor of the events that an import records.
        let actor: EventActor
        let request: RequestID
    }

    // MARK: - What operators do

    /// Starts a job.
    ///
    /// - Parameter body: The file of an import, which is durable when this returns.
    /// - Throws: 409 while the same is done for the application, 422 for a backup without a folder, 507, and the errors of the
    ///   body; nothing is stored then.
    func start(
        _ kind: ConsoleJob.Kind, of application: Application.ID?, _ body: any RequestBody,
        from origin: Origin
    ) async throws -> ConsoleJob {
        let slot = try slot(for: kind, of: application)
        var job = ConsoleJob(
            id: .v7(at: clock(), random: .random(in: .min ... .max)), kind: kind,
            application: application, state: .running, process: store.process,
            actor: origin.audit.actor ?? "", startedAt: clock())
        state.withLock { state in _ = state.receiving.insert(job.id) }
        defer { state.withLock { state in _ = state.receiving.remove(job.id) } }
        if kind == .import {
            job.total = try await platform.withDiskSpace {
                try await files.receive(body, as: job.id, requireSpace: requireSpace)
            }
        }
        do {
            try await store.startJob(job, from: origin.audit)
        } catch {
            // It may be stored nevertheless, if the database was lost during the commit.
            _ = try? await store.deleteJob(job.id, of: nil, from: origin.audit)
            await files.discard(job.id)
            throw error
        }
        run(job, slot, origin)
        return job
    }

    /// Runs a job again that has failed or was interrupted.
    ///
    /// - Parameter application: The only application whose jobs may be run; `nil` for all.
    /// - Throws: 404; 409 for a job that runs or has succeeded, and for an import whose file is not in this data folder.
    func runAgain(
        _ id: ConsoleJob.ID, of application: Application.ID?, from origin: Origin
    ) async throws -> ConsoleJob {
        let known = try await job(id, of: application)
        guard known.state == .failed || known.state == .interrupted else {
            throw APIError(
                .conflict, "Only a job that has failed or was interrupted can be run again.")
        }
        let slot = try slot(for: known.kind, of: known.application)
        if known.kind == .import, try await files.open(id) == nil { throw Self.noFile(known) }
        guard let job = try await store.restartJob(id, from: origin.audit) else {
            throw APIError(.conflict, "The job was started or deleted meanwhile.")
        }
        run(job, slot, origin)
        return job
    }

    /// Deletes a job and its file; one that runs is stopped. A backup stays where it is.
    ///
    /// - Throws: 404.
    func delete(
        _ id: ConsoleJob.ID, of application: Application.ID?, from origin: Origin
    ) async throws {
        guard try await store.deleteJob(id, of: application, from: origin.audit) != nil else {
            throw Self.unknown
        }
        // The work of another process ends when it finds that the job is gone.
        if let task = state.withLock({ state in state.running[id] }) {
            task.cancel()
            await task.value
        }
        await files.discard(id)
    }

    /// A job.
    ///
    /// - Throws: 404, also for one of another application than the only one.
    func job(_ id: ConsoleJob.ID, of application: Application.ID?) async throws -> ConsoleJob {
        guard let job = try await store.job(id),
            application == nil || job.application == application
        else { throw Self.unknown }
        return job
    }

    /// The file that an export has written.
    ///
    /// - Throws: 409 if there is none.
    func file(of job: ConsoleJob) async throws -> BlobFile {
        guard job.kind == .export, job.state == .done else {
            throw APIError(.conflict, "Only an export that is done has a file.")
        }
        guard let file = try await files.open(job.id) else { throw Self.noFile(job) }
        return file
    }

    /// The number of bytes of the file of a job in this data folder; `nil` if there is none.
    func fileSize(of job: ConsoleJob) async -> Int64? {
        guard job.kind != .backup, job.state != .running else { return nil }
        return try? await files.open(job.id)?.size
    }

    /// Deletes old jobs and files without a job, now and every hour. Call it before the first job.
    func start() async {
        await clean()
        cleaning.start { [weak self] in
            while !Task.isCancelled {
                await pause(milliseconds: Self.cleaningInterval)
                await self?.clean()
            }
        }
    }

    /// Deletes jobs that ended a week ago, and files without a job: those of deleted jobs, also of jobs that another
    /// process has deleted, and those that a crash has left.
    private func clean() async {
        let oldest = Timestamp(milliseconds: clock().milliseconds - ConsoleJob.retention)
        do {
            try await store.trimJobs(before: oldest)
            for id in try await files.ids() {
                let arrives = state.withLock { state in state.receiving.contains(id) }
                guard !arrives, try await store.job(id) == nil else { continue }
                await files.discard(id)
            }
        } catch {
            // It is repeated in an hour.
        }
    }

    /// Stops all jobs, and starts no others; the next process with this data folder can run them again.
    func stop() async {
        await cleaning.stop()
        let tasks = state.withLock { state in
            state.isStopping = true
            return Array(state.running.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    static let unknown = APIError(
        .notFound, "A job with the specified identifier could not be found.")

    private static func noFile(_ job: ConsoleJob) -> APIError {
        APIError(
            .conflict,
            "The file of the job is not in the data folder of this process; process \(job.process) has stored it."
        )
    }

    private var requireSpace: @Sendable () throws -> Void {
        { [uploads = platform.uploads] in try uploads.requireDiskSpace() }
    }

    /// Takes what limits the exports and imports that run at a time.
    private func slot(
        for kind: ConsoleJob.Kind, of application: Application.ID?
    ) throws -> TransferSlots.Slot {
        if state.withLock({ state in state.isStopping }) {
            throw APIError(.serviceUnavailable, "The server is stopping; try again later.")
        }
        switch (kind, application) {
        case (.export, let application?):
            return try platform.exports.slot(for: application, "An export of this application")
        case (.import, let application?):
            return try platform.imports.slot(for: application, "An import into this application")
        case (.backup, nil):
            guard backup != nil else {
                throw APIError(
                    .invalidProperty,
                    "`kind` can be `backup` only with the setting `console.backup_folder`.",
                    data: .property("kind"))
            }
            // The nil UUID is no application.
            return try platform.exports.slot(for: Application.ID(high: 0, low: 0), "A backup")
        case (.export, nil), (.import, nil):
            throw Rejection.missing("app")
        case (.backup, _?):
            throw APIError(
                .invalidProperty, "`app` must not be given for a backup, which holds all of them.",
                data: .property("app"))
        }
    }

    // MARK: - Running

    private func run(_ job: ConsoleJob, _ slot: TransferSlots.Slot, _ origin: Origin) {
        state.withLock { state in
            let task = Task { [self] in
                await work(on: job, origin)
                _ = self.state.withLock { state in state.running.removeValue(forKey: job.id) }
                withExtendedLifetime(slot) {}
            }
            state.running[job.id] = task
            // It is interrupted at once, and can be run again after the next start.
            if state.isStopping { task.cancel() }
        }
    }

    private func work(on job: ConsoleJob, _ origin: Origin) async {
        let progress = Locked((done: job.done, total: job.total))
        let work = Task { [self] in
            try await result(of: job, origin) { done, total in
                progress.withLock { known in known = (done, total ?? known.total) }
            }
        }
        let reporting = Task { [self] in
            while !Task.isCancelled {
                await pause(milliseconds: Self.interval)
                let (done, total) = progress.withLock { progress in progress }
                // After a failure the next report is tried.
                let isOwn = try? await store.noteJob(job.id, done: done, total: total)
                guard isOwn != false else { return work.cancel() }
            }
        }
        let outcome = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        reporting.cancel()
        await reporting.value
        var ended = job
        (ended.done, ended.total) = progress.withLock { progress in progress }
        switch outcome {
        case .success(let result):
            ended.state = .done
            ended.total = ended.done
            ended.result = result
        case .failure(let error):
            if work.isCancelled {
                // The job was deleted, or the process stops. An export has no complete file; an import keeps its own.
                if job.kind == .export { await files.discard(job.id) }
                return
            }
            ended.state = .failed
            ended.error = message(of: error, origin.request)
            if job.kind == .export { await files.discard(job.id) }
        }
        switch await store(ended) {
        case true?:
            // Not before: a job that is not known to have ended can be run again.
            if job.kind == .import, ended.state == .done { await files.discard(job.id) }
        case false?: await files.discard(job.id)
        case nil: break
        }
    }

    /// Stores the end of a job, repeatedly while the database is unreachable.
    ///
    /// - Returns: False if the job was deleted, or another process works on it; `nil` if this task was cancelled before.
    private func store(_ ended: ConsoleJob) async -> Bool? {
        while true {
            do {
                return try await store.endJob(ended)
            } catch {
                if Task.isCancelled { return nil }
                await pause(milliseconds: 5 * Self.interval)
            }
        }
    }

    private func message(of error: any Error, _ request: RequestID) -> String {
        switch error {
        case let failure as ConsoleBackup.Failure: failure.message
        case is BodyError: "The file cannot be read from the disk."
        default: platform.apiError(for: error, request, .platform).message
        }
    }

    private typealias Progress = @Sendable (_ done: Int64, _ total: Int64?) -> Void

    /// Does the work of a job and returns what it has done, as JSON.
    private func result(
        of job: ConsoleJob, _ origin: Origin, _ progress: @escaping Progress
    ) async throws -> String? {
        switch (job.kind, job.application) {
        case (.export, let application?): try await export(application, job, progress)
        case (.import, let application?):
            try await importFile(application, job, origin, progress)
        default: try await makeBackup(job, progress)
        }
    }

    private func export(
        _ application: Application.ID, _ job: ConsoleJob, _ progress: @escaping Progress
    ) async throws -> String? {
        let file = try await files.begin(job.id)
        let size = Locked<Int64>(0)
        let (files, requireSpace) = (files, requireSpace)
        try await platform.exportLines(of: application) { piece, total in
            try Task.checkCancellation()
            let place = size.withLock { size in size }
            try await files.write(piece, to: file, at: place, requireSpace: requireSpace)
            let end = place + Int64(piece.count)
            size.withLock { size in size = end }
            progress(end, max(end, total))
        }
        try await files.finish(file, job.id)
        return nil
    }

    private func importFile(
        _ application: Application.ID, _ job: ConsoleJob, _ origin: Origin,
        _ progress: @escaping Progress
    ) async throws -> String? {
        guard let file = try await files.open(job.id) else { throw Self.noFile(job) }
        let body = files.body(of: file) { done in progress(done, file.size) }
        let summary = try await platform.importLines(
            of: body, into: application, by: store.acting(as: origin.actor))
        return String(decoding: summary, as: UTF8.self)
    }

    private func makeBackup(
        _ job: ConsoleJob, _ progress: @escaping Progress
    ) async throws -> String? {
        guard let backup else {
            throw ConsoleBackup.Failure("The setting `console.backup_folder` is not set.")
        }
        let folder = "\(backup.folder)/backup-\(job.id)"
        let made = try await backup.run(folder) { done, total in progress(done, total) }
        progress(made.bytes, made.bytes)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("folder", folder)
            writer.member("contents", made.contents)
            writer.member("bytes", made.bytes)
        }
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}
