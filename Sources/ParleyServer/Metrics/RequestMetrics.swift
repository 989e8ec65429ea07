import Console
import HTTP
import HTTPTransport
import PlatformAPI
import Telemetry
import Uploads

/// Counts requests and the loops' turns.
///
/// Called on the loops after each request: a few array look-ups and six atomic additions in the
/// loop's own cells, without locks or allocations.
struct RequestMetrics: Sendable {
    private let routes: LabelValues
    private let methods: LabelValues
    private let requests: CounterTable
    private let times: HistogramTable
    private let bytesIn: CounterTable
    private let bytesOut: CounterTable
    private let turns: HistogramTable
    /// The times of requests that send messages, that read, that last as long as their client wants, and of all others, for
    /// the charts of the console.
    private let kindTimes: HistogramTable
    /// Answers with a status of 5xx, for the charts of the console.
    private let serverErrors = CounterTable(.serverErrors)
    /// Whether `POST` on a route sends messages, by the index of the route.
    private let sendsMessages: [Bool]
    /// Whether requests on a route are streams, sockets, uploads or downloads, by the index of the route.
    private let isLasting: [Bool]
    private let loops: Int

    /// - Parameter loops: The number of loops; each counts in its own shard.
    init(loops: Int) {
        routes = LabelValues(Self.routes)
        methods = LabelValues(Method.allCases.map(\.rawValue))
        let classes = LabelValues(Self.classes)
        requests = CounterTable(.requestCount, [routes, methods, classes], shards: loops)
        times = HistogramTable(
            .requestTime, bounds: Self.requestBounds, [routes], shards: loops)
        kindTimes = HistogramTable(
            .requestKindTime, bounds: Self.requestBounds,
            [LabelValues(["send", "read", "lasting"])],
            shards: loops)
        sendsMessages = routes.all.map { route in route.hasSuffix("/messages") }
        isLasting = routes.all.map { route in
            route.hasSuffix("/events") || Self.lastingRoutes.contains(route)
        }
        bytesIn = CounterTable(.requestBytes, shards: loops)
        bytesOut = CounterTable(.answerBytes, shards: loops)
        let numbers = LabelValues((0..<loops).map { loop in "\(loop)" })
        turns = HistogramTable(.turnTime, bounds: Self.turnBounds, [numbers], shards: loops)
        self.loops = loops
    }

    /// Counts a request that was answered or cancelled.
    func count(_ record: RequestRecord) {
        let shard = record.loop % loops
        let route = routes.index(of: record.route.isEmpty ? Self.noRoute : record.route)
        let method = methods.index(of: record.method)
        // 0xx means that no answer was sent.
        let statusClass = min(max(record.status / 100, 0), Self.classes.count - 1)
        let row = (route * methods.count + method) * (Self.classes.count + 1) + statusClass
        requests.add(row: row, shard: shard)
        times.observe(Int(record.duration), row: route, shard: shard)
        kindTimes.observe(
            Int(record.duration), row: kind(of: record.method, route), shard: shard)
        if statusClass == 5 { serverErrors.add() }
        bytesIn.add(Int(record.bytesIn), shard: shard)
        bytesOut.add(Int(record.bytesOut), shard: shard)
    }

    private func kind(of method: String, _ route: Int) -> Int {
        if isLasting[route] { return Self.lasting }
        if method == "GET" || method == "HEAD" { return Self.read }
        return method == "POST" && sendsMessages[route] ? Self.send : Self.other
    }

    private static let (send, read, lasting, other) = (0, 1, 2, 3)
    private static let lastingRoutes = [
        "\(ConsoleAPI.root)/stream", PlatformAPI.socketRoute, Uploads.creationRoute, Uploads.route,
        Downloads.route,
    ]

    /// The counters for the charts of the console.
    func counters() -> StatisticsCounters {
        let histogram = { (row: Int) in
            StatisticsHistogram(bounds: kindTimes.bounds, counts: kindTimes.counts(row: row))
        }
        var counters = StatisticsCounters()
        let (send, read) = (histogram(Self.send), histogram(Self.read))
        let (lasting, other) = (histogram(Self.lasting), histogram(Self.other))
        let count = [send, read, lasting, other].reduce(0) { $0 + $1.counts.reduce(0, +) }
        (counters.send, counters.read, counters.other) = (send, read, other)
        counters.totals[.requests] = Double(count)
        counters.totals[.errors] = Double(serverErrors.value())
        return counters
    }

    /// Counts one turn of a loop.
    func finishedTurn(loop: Int, nanoseconds: Int64) {
        turns.observe(Int(nanoseconds), row: loop % loops, shard: loop % loops)
    }

    func write(to page: inout MetricsWriter) {
        requests.write(to: &page)
        times.write(to: &page)
        bytesIn.write(to: &page)
        bytesOut.write(to: &page)
        turns.write(to: &page)
    }

    /// All route templates that an answer may have; never a path from a request (H212).
    static let routes: [String] =
        [noRoute] + ServerService.Page.allCases.map(\.path.description)
        + ConsoleAPI.routes.uniqued + Endpoint.routed.map(\.path.description).uniqued + [
            PlatformAPI.socketRoute
        ]
        + [PlatformAPI.unknownRoute, Uploads.creationRoute, Uploads.route, Downloads.route]

    /// The route of requests with an unreadable head or with the target `*`.
    private static let noRoute = "none"
    private static let classes = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"]
    private static let requestBounds = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000,
        50_000_000, 100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000,
        10_000_000_000, 60_000_000_000,
    ]
    private static let turnBounds = [
        100_000, 1_000_000, 5_000_000, 20_000_000, 100_000_000, 500_000_000, 2_000_000_000,
    ]
}

extension [String] {
    /// The elements without repetitions, in order of first appearance.
    fileprivate var uniqued: [String] {
        reduce(into: []) { all, one in if !all.contains(one) { all.append(one) } }
    }
}
