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

    private let store: MessagingStore
    private let platform: PlatformAPI
    private let files: JobFiles
    private let backup: ConsoleBackup?
    private let clock: @Sendable () -> Timestamp
    private let running = Locked<[ConsoleJob.ID: Task<Void, Never>]>([:])
    /// Called with each job of this process that has begun, progressed or ended.
    private let onChange: @Sendable (ConsoleJob) -> Void

    init(
        store: MessagingStore, platform: PlatformAPI, files: JobFiles, backup: ConsoleBackup?,
        clock: @escaping @Sendable () -> Timestamp,
        onChange: @escaping @Sendable (ConsoleJob) -> Void
    ) {
        self.store = store
        self.platform = platform
        self.files = files
        self.backup = backup
        self.clock = clock
        self.onChange = onChange
    }

    /// The accounts and the request that start a job.
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
        await trim()
        var job = ConsoleJob(
            id: .v7(at: clock(), random: .random(in: .min ... .max)), kind: kind,
            application: application, state: .running, process: store.process,
            actor: origin.audit.actor ?? "", startedAt: clock())
        if kind == .import {
            job.total = try await platform.withDiskSpace {
                try await files.receive(body, as: job.id, requireSpace: requireSpace)
            }
        }
        do {
            try await store.startJob(job, from: origin.audit)
        } catch {
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
        if let task = running.withLock({ running in running[id] }) {
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

    /// Deletes files without a job, which a crash has left, and jobs that ended a week ago. Call it before the first job.
    func tidy() async {
        await trim()
        do {
            for id in try await files.ids() where try await store.job(id) == nil {
                await files.discard(id)
            }
        } catch {
            // The next start repeats it.
        }
    }

    private func trim() async {
        let oldest = Timestamp(milliseconds: clock().milliseconds - ConsoleJob.retention)
        // If this fails, it is repeated with the next job.
        for id in (try? await store.trimJobs(endedBefore: oldest)) ?? [] { await files.discard(id) }
    }

    /// Stops all jobs; the next process with this data folder can run them again.
    func stop() async {
        let tasks = running.withLock { running in Array(running.values) }
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
        running.withLock { running in
            running[job.id] = Task { [self] in
                await work(on: job, origin)
                _ = self.running.withLock { running in running.removeValue(forKey: job.id) }
                withExtendedLifetime(slot) {}
            }
        }
        onChange(job)
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
                // If the database is unreachable, the work fails by itself.
                if try await store.noteJob(job.id, done: done, total: total) {
                    onChange(job.having(done, total))
                } else {
                    work.cancel()
                    return
                }
            }
        }
        let outcome = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        reporting.cancel()
        let (done, total) = progress.withLock { progress in progress }
        var ended = job.having(done, total)
        switch outcome {
        case .success(let result):
            ended.state = .done
            ended.total = ended.done
            ended.result = result
            if job.kind == .import { await files.discard(job.id) }
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
        await store(ended)
    }

    /// Stores the end of a job, repeatedly while the database is unreachable.
    private func store(_ ended: ConsoleJob) async {
        while true {
            do {
                try await store.endJob(ended)
                onChange(ended)
                return
            } catch {
                if Task.isCancelled { return }
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

extension ConsoleJob {
    /// The job with another progress.
    fileprivate func having(_ done: Int64, _ total: Int64?) -> ConsoleJob {
        var job = self
        (job.done, job.total) = (done, total)
        return job
    }
}
