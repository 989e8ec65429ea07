public import Blobs
public import Messaging
public import MessagingStore
internal import MessagingWire
internal import SystemSupport
public import Uploads

/// Runs exports in the background, one after another, in one process at a time.
///
/// Pending exports are rows, so a crash loses nothing: an interrupted archive is created again. It
/// polls every second, which costs three index look-ups that are mostly empty; a signal per
/// application would need a waiting task each, and an export takes longer than a second.
public final class Exporter: Sendable {
    private let store: MessagingStore
    private let blobs: BlobFolder
    private let contents: ContentRepository
    private let downloads: Downloads
    private let publicBase: String
    private let now: @Sendable () -> Timestamp
    private let onFault: @Sendable (any Error, Export.ID?) -> Void
    private let leasedWork: LeasedWork
    /// Failed exports and when to retry each: a full disk stays full for a while.
    private let failed: Locked<[Export.ID: Timestamp]> = Locked([:])

    private static let retryDelay: Int64 = 60_000

    /// Creates the exporter; nothing runs before ``start()``.
    ///
    /// - Parameters:
    ///   - blobs: Where archives are created, named by their exports' UUIDs.
    ///   - contents: Where they are published.
    ///   - downloads: Signs the URLs of contents.
    ///   - publicBase: Absolute URL without a trailing slash.
    ///   - onFault: Called once with every fault, to log it.
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
        leasedWork = LeasedWork("exporter", of: store) { error in onFault(error, nil) }
    }

    /// Starts the background work; call once.
    public func start() {
        leasedWork.start(priority: .background) { [weak self] in try await self?.work() }
    }

    /// Stops within one batch; the next start repeats unfinished exports.
    public func stop() async { await leasedWork.stop() }

    /// Does all pending work now, with or without the lease.
    ///
    /// - Throws: `CancellationError` and database errors. A single export that fails is reported to
    ///   `onFault` and does not stop the others.
    public func work() async throws {
        try await store.requestDueExports()
        try await store.expireExports()
        // In batches to the end: failing exports must not delay later ones.
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
            let again = Timestamp(milliseconds: now().milliseconds + Self.retryDelay)
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
            // Another process was faster, or the export was deleted.
            if !isWanted { try await job.erase(archive) }
        case .erase:
            try await job.erase()
            try await store.eraseExport(task.export.id, in: task.application)
        }
    }

    /// Exports show objects as the system sees them in version 1.0 (platform-api §5.12).
    private func presentation(_ application: Application.ID) -> Presentation {
        Presentation(
            version: .v1_0,
            links: LinkBuilder(publicBase: publicBase, application: application)
        ) { [downloads, now] content in
            downloads.signedURL(content: content, at: now().milliseconds)
        }
    }
}
