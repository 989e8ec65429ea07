public import Blobs
public import Messaging
public import MessagingStore
internal import MessagingWire
internal import SystemSupport
public import Uploads

/// Works on exports, in the background and one after another; of several processes one does.
///
/// What there is to do stands in rows, so a crash loses nothing: an archive that was being made is made
/// anew. It looks every second, which costs three reads of indexes that are empty most of the time; a
/// signal per application would need a waiting task for each of them, and an export takes longer.
public final class Exporter: Sendable {
    private let store: MessagingStore
    private let blobs: BlobFolder
    private let contents: ContentRepository
    private let downloads: Downloads
    private let publicBase: String
    private let now: @Sendable () -> Timestamp
    private let onFault: @Sendable (any Error, Export.ID?) -> Void
    private let lease: Lease
    private let running = BackgroundTask()
    /// Exports whose work failed, and when to try again: a full disk stays full for a while.
    private let failed: Locked<[Export.ID: Timestamp]> = Locked([:])

    private static let patience: Int64 = 60_000

    /// Puts the reader together; it does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - blobs: Where archives are made, by the UUIDs of their exports.
    ///   - contents: Where they are published.
    ///   - downloads: Signs the URLs of contents.
    ///   - publicBase: Absolute URL without a trailing slash.
    ///   - onFault: Told of every fault once, to log it.
    public init(
        store: MessagingStore, blobs: BlobFolder, contents: ContentRepository, downloads: Downloads,
        publicBase: String,
        now: @escaping @Sendable () -> Timestamp,
        onFault: @escaping @Sendable (any Error, Export.ID?) -> Void
    ) {
        self.store = store
        self.blobs = blobs
        self.contents = contents
        self.downloads = downloads
        self.publicBase = publicBase
        self.now = now
        self.onFault = onFault
        lease = Lease("exporter", of: store)
    }

    /// Begins to work; once.
    public func start() {
        running.start(priority: .background) { [weak self] in
            while !Task.isCancelled, let self {
                await self.turn()
                await pause(milliseconds: 1000)
            }
        }
    }

    /// Stops working, within a page: what was begun is begun anew by the next start.
    public func stop() async {
        await running.stop()
        await lease.release()
    }

    private func turn() async {
        do {
            _ = try await lease.hold { try await self.work() }
        } catch is CancellationError {
            return
        } catch {
            onFault(error, nil)
        }
    }

    /// Does all there is to do now, whoever else does.
    ///
    /// - Throws: `CancellationError`, and what the database throws; a single export that fails is
    ///   told to `onFault` and does not keep others waiting.
    public func work() async throws {
        try await store.requestDueExports()
        try await store.expireExports()
        // Stretch by stretch to the end: however many fail, nobody behind them waits for ever.
        var last: ExportTask?
        repeat {
            let tasks = try await store.exportTasks(after: last)
            for task in tasks where !isPaused(task.export.id) { try await workOrPause(task) }
            last = tasks.last
        } while last != nil
    }

    private func workOrPause(_ task: ExportTask) async throws {
        try Task.checkCancellation()
        do {
            try await work(on: task)
            failed.withLock { failed in failed[task.export.id] = nil }
        } catch let error as CancellationError {
            throw error
        } catch {
            let again = Timestamp(milliseconds: now().milliseconds + Self.patience)
            failed.withLock { failed in failed[task.export.id] = again }
            onFault(error, task.export.id)
        }
    }

    private func isPaused(_ id: Export.ID) -> Bool {
        guard let again = failed.withLock({ failed in failed[id] }) else { return false }
        return now() < again
    }

    private func work(on task: ExportTask) async throws {
        let job = try ExportJob(
            task, store: store, blobs: blobs, contents: contents, presentation(task.application))
        switch task.kind {
        case .write:
            guard try await store.startExport(task.export.id, in: task.application) else { return }
            let archive = try await job.write(at: now())
            let isWanted = try await store.completeExport(
                task.export.id, archive, in: task.application)
            // Another process was there before, or nobody wants it any more.
            if !isWanted { try await job.erase(archive) }
        case .erase:
            try await job.erase()
            try await store.eraseExport(task.export.id, in: task.application)
        }
    }

    /// Exports show objects as the system sees them in 1.0 (platform-api §5.12).
    private func presentation(_ application: Application.ID) -> Presentation {
        Presentation(
            version: .v1_0,
            links: LinkBuilder(publicBase: publicBase, application: application),
            sign: { [downloads, now] id in downloads.signing(at: now())(id) })
    }
}
