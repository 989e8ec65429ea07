import JSON
public import Messaging
public import MessagingStore
import SystemSupport

/// Reports this process to the others that share the database, every ten seconds. A database file has one process, which
/// reports nothing.
public final class ProcessReporter: Sendable {
    private let store: MessagingStore
    private let server: ConsoleServer
    private let clock: @Sendable () -> Timestamp
    private let work = BackgroundTask()

    /// Creates a reporter; ``start()`` starts it.
    public init(
        store: MessagingStore, server: ConsoleServer,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.server = server
        self.clock = clock
    }

    /// Starts. Call it once.
    public func start() {
        guard store.isShared else { return }
        work.start { [weak self] in
            while !Task.isCancelled {
                await self?.report()
                await pause(milliseconds: ServerProcess.interval)
            }
        }
    }

    /// Stops, and removes the report.
    public func stop() async {
        await work.stop()
        // Without this the others see after half a minute that the process has ended.
        if store.isShared { try? await store.removeProcess() }
    }

    private func report() async {
        let report = Self.report(of: server, store, [], at: clock())
        // The next report follows in ten seconds.
        try? await store.reportProcess(
            version: report.version, startedAt: report.startedAt, statistics: report.statistics)
    }

    /// The report of this process.
    static func report(
        of server: ConsoleServer, _ store: MessagingStore, _ leases: [String], at now: Timestamp
    ) -> ServerProcess {
        var writer = JSONWriter()
        writer.object { writer in server.statistics.latest?.write(into: &writer) }
        return ServerProcess(
            id: store.process, version: server.version, startedAt: server.startedAt,
            lastSeenAt: now, leases: leases,
            statistics: String(decoding: writer.finish(), as: UTF8.self))
    }
}
