import Locking
import Messaging

/// Lets go of events whose time is over, every ten minutes (X3).
public final class LogTrimmer: Sendable {
    /// Between two looks, in milliseconds.
    static let interval: Int64 = 600_000

    private let store: MessagingStore
    private let retention: Int64
    private let sleep: @Sendable (Int64) async -> Void
    private let onFault: @Sendable (any Error) -> Void
    private let work = BackgroundTask()

    /// Nothing goes before ``start()``.
    ///
    /// - Parameters:
    ///   - retention: How long an event is kept, in milliseconds; 0 for ever.
    ///   - sleep: Waits so many milliseconds, unless its task is cancelled; really, if `nil`.
    ///   - onFault: Told when a look failed; the next one tries again.
    public init(
        store: MessagingStore, retention: Int64, sleep: (@Sendable (Int64) async -> Void)? = nil,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        self.retention = retention
        self.sleep = sleep ?? pause(milliseconds:)
        self.onFault = onFault
    }

    /// Begins, unless everything is kept; once.
    public func start() {
        guard retention > 0 else { return }
        work.start { await self.run() }
    }

    /// Ends after the stretch that is being let go of.
    public func stop() async { await work.stop() }

    private func run() async {
        while !Task.isCancelled {
            do {
                let now = store.environment.now().milliseconds
                try await store.trimLogs(before: Timestamp(milliseconds: now - retention))
            } catch is CancellationError {
                return
            } catch {
                onFault(error)
            }
            await sleep(Self.interval)
        }
    }
}
