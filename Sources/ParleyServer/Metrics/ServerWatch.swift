import HTTPTransport

/// What the transport tells after each request: it is counted, then it gets its line.
final class ServerWatch: RequestObserver {
    private let metrics: RequestMetrics
    private let log: AccessLog

    init(_ metrics: RequestMetrics, _ log: AccessLog) {
        self.metrics = metrics
        self.log = log
    }

    func finished(_ record: RequestRecord) {
        metrics.count(record)
        log.write(record)
    }

    func noticed(_ event: ServerEvent) { log.write(event) }

    func turned(loop: Int, nanoseconds: Int64) {
        metrics.turned(loop: loop, nanoseconds: nanoseconds)
    }
}
