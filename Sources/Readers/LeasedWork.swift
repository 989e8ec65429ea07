import MessagingStore
internal import SystemSupport

/// Repeats work in one process at a time, with a pause of one second between runs.
final class LeasedWork: Sendable {
    private let lease: Lease
    private let onFault: @Sendable (any Error) -> Void
    private let running = BackgroundTask()

    /// - Parameters:
    ///   - name: The name of the lease.
    ///   - onFault: Called with every error of the work or of the lease.
    init(
        _ name: String, of store: MessagingStore,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        lease = Lease(name, of: store)
        self.onFault = onFault
    }

    /// Starts the work; call once.
    ///
    /// - Parameter work: Does what there is to do.
    func start(priority: TaskPriority, _ work: @escaping @Sendable () async throws -> Void) {
        running.start(priority: priority) { [weak self] in
            while !Task.isCancelled, let self {
                do {
                    _ = try await self.lease.hold { try await work() }
                } catch is CancellationError {
                } catch {
                    self.onFault(error)
                }
                await pause(milliseconds: 1000)
            }
        }
    }

    /// Cancels the work, waits for its end, and releases the lease.
    func stop() async {
        await running.stop()
        await lease.release()
    }
}
