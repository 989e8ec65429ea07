import MessagingStore
internal import SystemSupport

/// Background work that one process does at a time; it begins again a second after it has ended.
final class LeasedWork: Sendable {
    private let lease: Lease
    private let running = BackgroundTask()

    /// - Parameter name: The name of the lease.
    init(_ name: String, of store: MessagingStore) { lease = Lease(name, of: store) }

    /// Starts the work; call once.
    ///
    /// - Parameters:
    ///   - onFault: Called with every error of the work or of the lease.
    ///   - work: Does what there is to do.
    func start(
        priority: TaskPriority, onFault: @escaping @Sendable (any Error) -> Void,
        _ work: @escaping @Sendable () async throws -> Void
    ) {
        running.start(priority: priority) { [weak self] in
            while !Task.isCancelled, let self {
                do {
                    _ = try await self.lease.hold { try await work() }
                } catch is CancellationError {
                } catch {
                    onFault(error)
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
