import Blobs
import Console
import FoundationEssentials
import HTTPTransport
import MessagingStore
import PlatformAPI
import Readers
import SQL
import SystemSupport
import Telemetry
import Uploads

/// The metrics of this process: some are counted as events occur, the others are read when the page
/// is requested.
final class ServerMetrics: Sendable {
    let requests: RequestMetrics
    /// Durations of database commits.
    let commitTimes = HistogramTable(.commitTime, bounds: ServerMetrics.commitBounds)
    /// Durations of upload commits.
    private let uploadCommitTimes = HistogramTable(
        .uploadCommitTime, bounds: ServerMetrics.commitBounds, [ServerMetrics.dialects])
    /// Durations of webhook attempts.
    private let attemptTimes = HistogramTable(
        .webhookAttemptTime, bounds: ServerMetrics.commitBounds)
    private let log: AccessLog
    private let sink: LogSink
    private let sources = Locked<Sources?>(nil)

    /// The components whose statistics are read; set once all are created.
    struct Sources: Sendable {
        // Weak: the server holds the metrics page, which holds this.
        weak var server: Server?
        let database: Database
        let uploads: Uploads
        let api: PlatformAPI
        let webhookSupervisor: WebhookSupervisor
    }

    /// - Parameter loops: The number of loops.
    init(loops: Int, log: AccessLog, sink: LogSink) {
        requests = RequestMetrics(loops: loops)
        self.log = log
        self.sink = sink
    }

    func setSources(_ sources: Sources) { self.sources.withLock { known in known = sources } }

    /// All metrics in a format.
    func page(_ format: MetricsFormat) async -> [UInt8] {
        var page = MetricsWriter(format)
        requests.write(to: &page)
        if let sources = sources.withLock({ known in known }) {
            page.write(.requestsOverRate, sources.api.rateLimitedRequests)
            write(sources.api.messageCacheStatistics, to: &page)
            if let server = sources.server {
                write(await server.statistics(), sources.api, to: &page)
                writeSecurity(of: server, to: &page)
            }
            write(sources.database, to: &page)
            write(sources.uploads.statistics, to: &page)
            write(sources.webhookSupervisor.statistics, to: &page)
        }
        writeProcess(to: &page)
        page.end()
        return page.bytes
    }

    private func write(_ memory: MessageCacheStatistics, to page: inout MetricsWriter) {
        page.begin(.cacheReads)
        page.sample(["hit"], memory.hits)
        page.sample(["miss"], memory.misses)
        page.begin(.listedMessages)
        page.sample(["cached"], memory.listedHits)
        page.sample(["read"], memory.listedMisses)
        page.write(.memoryBytes, memory.bytes)
    }

    private func write(
        _ statistics: ServerStatistics, _ api: PlatformAPI, to page: inout MetricsWriter
    ) {
        page.begin(.handlers)
        page.sample(["running"], statistics.runningHandlers)
        page.sample(["waiting"], statistics.waitingHandlers)
        page.sample(["queued"], statistics.queuedRequests)
        page.write(.connectionsAccepted, statistics.accepted)
        page.begin(.connectionsRefused)
        for reason in ConnectionRefusal.allCases {
            page.sample([reason.rawValue], statistics.refused[reason] ?? 0)
        }
        page.begin(.connectionsOpen)
        for state in ServerStatistics.ConnectionState.allCases {
            page.sample([state.rawValue], statistics.connections[state] ?? 0)
        }
        page.begin(.streams)
        page.sample(["socket"], api.openSockets)
        page.sample(["stream"], api.openStreams - api.openSockets)
        page.write(.outputQueued, Int(statistics.queuedOutput))
    }

    /// TLS handshakes and the expiry of certificates (H166); zeros without TLS.
    private func writeSecurity(of server: Server, to page: inout MetricsWriter) {
        let statistics = server.tlsStatistics
        page.begin(.handshakes)
        page.sample(["full"], statistics.established - statistics.resumed)
        page.sample(["resumed"], statistics.resumed)
        page.sample(["failed"], statistics.failed)
        page.write(.handshakesPending, statistics.pending)
        page.begin(.certificateExpiry)
        for certificate in server.certificates {
            // A certificate that never expires has the year 9999, whose nanoseconds would
            // overflow.
            let seconds = min(Int(certificate.expiry), .max / 1_000_000_000)
            page.sample([certificate.file], seconds * 1_000_000_000)
        }
    }

    private func write(_ database: Database, to page: inout MetricsWriter) {
        let statistics = database.statistics
        page.write(.commits, statistics.commits)
        commitTimes.write(to: &page)
        page.write(.mutations, statistics.mutations)
        page.write(.replays, statistics.replays)
        page.write(.waitingChanges, database.waitingChanges)
        page.write(.busyReaders, database.busyReaders)
        page.write(.waitingReads, database.waitingReads)
    }

    private func write(_ statistics: UploadStatistics, to page: inout MetricsWriter) {
        func each(_ family: MetricFamily, _ value: (UploadProtocol) -> Int?) {
            page.begin(family)
            for uploadProtocol in UploadProtocol.allCases {
                if let value = value(uploadProtocol) {
                    page.sample([uploadProtocol.rawValue], value)
                }
            }
        }
        let traffic = statistics.traffic
        each(.uploadsOpen) { uploadProtocol in statistics.open[uploadProtocol] }
        each(.uploadReserved) { uploadProtocol in
            statistics.reserved[uploadProtocol].map { Int($0) }
        }
        page.begin(.uploadRequests)
        for uploadProtocol in UploadProtocol.allCases {
            for (status, count) in (traffic[uploadProtocol]?.requests ?? [:]).sorted(by: <) {
                page.sample([uploadProtocol.rawValue, "\(status)"], count)
            }
        }
        each(.uploadReceived) { uploadProtocol in traffic[uploadProtocol].map { Int($0.received) } }
        each(.uploadBytes) { uploadProtocol in traffic[uploadProtocol].map { Int($0.committed) } }
        each(.uploadCommits) { uploadProtocol in traffic[uploadProtocol]?.commits }
        uploadCommitTimes.write(to: &page)
        each(.uploadTakeovers) { uploadProtocol in traffic[uploadProtocol]?.takeovers }
        each(.uploadResumes) { uploadProtocol in traffic[uploadProtocol]?.resumes }
        each(.uploadOverlap) { uploadProtocol in traffic[uploadProtocol].map { Int($0.overlap) } }
        each(.uploadChecksumFailures) { uploadProtocol in traffic[uploadProtocol]?.checksumFailures
        }
        each(.uploadsExpired) { uploadProtocol in statistics.expired[uploadProtocol] }
        page.begin(.uploadsEnded)
        for end in UploadStatistics.End.allCases {
            page.sample([end.rawValue], statistics.ended[end] ?? 0)
        }
        page.write(.contentsErased, statistics.erased)
        page.write(.contentsErasedBytes, Int(statistics.erasedBytes))
    }

    private func write(_ statistics: WebhookStatistics, to page: inout MetricsWriter) {
        page.write(.webhooks, statistics.workers)
        page.begin(.webhookDeliveries)
        page.sample(["pending"], statistics.backlog.pending)
        page.sample(["dead"], statistics.backlog.dead)
        page.begin(.webhookAttempts)
        page.sample(["taken"], statistics.taken)
        page.sample(["failed"], statistics.failed)
        attemptTimes.write(to: &page)
        page.write(.deadDeliveries, statistics.dead)
        page.begin(.webhookVerifications)
        page.sample(["passed"], statistics.verified - statistics.refused)
        page.sample(["failed"], statistics.refused)
        page.write(.webhooksDeactivated, statistics.deactivated)
    }

    private func writeProcess(to page: inout MetricsWriter) {
        page.begin(.build)
        page.sample([Release.version], 1)
        page.write(.linesDropped, sink.droppedLines)
        page.write(.linesSuppressed, log.suppressedLines)
        let usage = ProcessUsage()
        page.write(.cpuTime, usage.cpuTime)
        page.write(.residentMemory, usage.residentMemory)
        page.write(.openDescriptors, usage.openDescriptors)
        page.write(.descriptorLimit, usage.descriptorLimit)
        page.write(.startTime, ProcessUsage.startTime)
    }

    /// The counters that the charts of the console show.
    ///
    /// - Parameter folder: The data folder.
    func counters(folder: String) async -> StatisticsCounters {
        var counters = requests.counters()
        counters.commit = StatisticsHistogram(
            bounds: commitTimes.bounds, counts: commitTimes.counts())
        counters.totals[.cpu] = Double(ProcessUsage.cpuTime) / 1e9
        counters.gauges[.memory] = Double(ProcessUsage().residentMemory)
        guard let sources = sources.withLock({ known in known }) else { return counters }
        counters.totals[.commits] = Double(sources.database.statistics.commits)
        let uploads = sources.uploads.statistics
        counters.totals[.uploadBytes] = Double(
            uploads.traffic.values.reduce(0) { sum, traffic in sum + traffic.committed })
        counters.gauges[.uploadsOpen] = Double(uploads.open.values.reduce(0, +))
        let webhooks = sources.webhookSupervisor.statistics
        counters.totals[.webhookAttempts] = Double(webhooks.taken + webhooks.failed)
        counters.totals[.webhookFailures] = Double(webhooks.failed)
        counters.gauges[.webhooksPending] = Double(webhooks.backlog.pending)
        counters.gauges[.webhooksDead] = Double(webhooks.backlog.dead)
        counters.gauges[.streams] = Double(sources.api.openStreams)
        if let server = sources.server {
            let connections = await server.statistics().connections
            counters.gauges[.clients] = Double(connections.values.reduce(0, +))
        }
        if let space = try? sources.uploads.blobs.freeSpace(), space.total > 0 {
            counters.gauges[.diskFree] = Double(space.available)
            counters.gauges[.diskUsed] = 1 - Double(space.available) / Double(space.total)
        }
        let sizes = ["parley.sqlite", "parley.sqlite-wal"].compactMap { name in
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: "\(folder)/\(name)")
            return attributes?[.size] as? Int
        }
        if !sizes.isEmpty { counters.gauges[.database] = Double(sizes.reduce(0, +)) }
        return counters
    }

    /// Records the duration of a webhook attempt.
    func observeAttempt(_ duration: Duration) {
        attemptTimes.observe(Int(duration / .nanoseconds(1)))
    }

    /// Records the duration of an upload commit.
    func observe(_ uploadProtocol: UploadProtocol, _ duration: Duration) {
        uploadCommitTimes.observe(
            Int(duration / .nanoseconds(1)), row: Self.dialects.index(of: uploadProtocol.rawValue))
    }

    private static let dialects = LabelValues(UploadProtocol.allCases.map(\.rawValue))

    private static let commitBounds = [
        250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 1_000_000_000, 5_000_000_000,
    ]
}
