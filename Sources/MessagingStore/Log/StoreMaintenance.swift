import Messaging
import SystemSupport

/// Deletes events that are older than the retention (X3) and those of the server's own log after 400 days, and old feed entries of deleted objects (Y1), and continues sorts
/// of messages that were interrupted (X1.3), every ten minutes.
public final class StoreMaintenance: Sendable {
    /// The interval in milliseconds.
    static let interval: Int64 = 600_000

    private let store: MessagingStore
    private let retention: Int64
    private let sleep: @Sendable (Int64) async -> Void
    private let onFault: @Sendable (any Error) -> Void
    private let work = BackgroundTask()

    /// Creates the maintenance of a store; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - retention: How long an event is stored, in milliseconds; 0 for no limit. It does not apply to feeds.
    ///   - sleep: Waits that many milliseconds, unless its task is cancelled; `nil` for the real clock.
    ///   - onFault: Called when a run failed; the next run tries again.
    public init(
        store: MessagingStore, retention: Int64, sleep: (@Sendable (Int64) async -> Void)? = nil,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        self.retention = retention
        self.sleep = sleep ?? pause(milliseconds:)
        self.onFault = onFault
    }

    /// Starts. Call it once.
    public func start() { work.start { await self.run() } }

    /// Stops after the current batch.
    public func stop() async { await work.stop() }

    private func run() async {
        while !Task.isCancelled {
            if let failure = await runOnce() { onFault(failure) }
            await sleep(Self.interval)
        }
    }

    /// Does each task, whether or not others fail.
    ///
    /// - Returns: What failed first.
    private func runOnce() async -> (any Error)? {
        let now = store.environment.now().milliseconds
        let tasks: [() async throws -> Void] = [
            { [store, retention] in
                guard retention > 0 else { return }
                try await store.trimLogs(before: Timestamp(milliseconds: now - retention))
            },
            { [store] in
                try await store.trimFeeds(
                    before: Timestamp(milliseconds: now - MessagingStore.feedRetention))
            },
            { [store] in
                try await store.trimAuditLog(
                    before: Timestamp(milliseconds: now - AuditEvent.retention))
            },
            { [store] in try await store.sortInterrupted() },
        ]
        var failure: (any Error)?
        for task in tasks {
            do {
                try await task()
            } catch is CancellationError {
                return nil
            } catch {
                failure = failure ?? error
            }
        }
        return failure
    }
}
