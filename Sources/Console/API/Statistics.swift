import HTTP
import JSON
public import Messaging
internal import SystemSupport

/// A value that charts of the console show over time.
public enum StatisticsSeries: String, CaseIterable, Sendable {
    // Per second.
    case requests, errors, commits
    case uploadBytes = "upload_bytes"
    case webhookAttempts = "webhook_attempts"
    case webhookFailures = "webhook_failures"
    /// Seconds of processor time in each second.
    case cpu
    // Latencies in seconds; missing while nothing is measured.
    case sendP50 = "send_p50"
    case sendP95 = "send_p95"
    case sendP99 = "send_p99"
    case readP50 = "read_p50"
    case readP95 = "read_p95"
    case readP99 = "read_p99"
    case otherP50 = "other_p50"
    case otherP95 = "other_p95"
    case otherP99 = "other_p99"
    case commitP50 = "commit_p50"
    case commitP95 = "commit_p95"
    case commitP99 = "commit_p99"
    // Values at the moment of the sample.
    case clients, streams
    case uploadsOpen = "uploads_open"
    case webhooksPending = "webhooks_pending"
    case webhooksDead = "webhooks_dead"
    /// Resident memory in bytes.
    case memory
    /// The used part of the volume of the data folder, from 0 to 1.
    case diskUsed = "disk_used"
    /// The free bytes of the volume.
    case diskFree = "disk_free"
    /// The bytes of the embedded database and its write-ahead log; missing on a database server.
    case database
}

/// A histogram that latencies are estimated from.
public struct StatisticsHistogram: Sendable {
    /// The upper bounds of all buckets but the last, in nanoseconds.
    public let bounds: [Int]
    /// The observations in each bucket since the start.
    public let counts: [Int]

    /// One more count than bounds.
    public init(bounds: [Int], counts: [Int]) {
        self.bounds = bounds
        self.counts = counts
    }

    /// The quantile of the observations since an earlier state, in seconds: linear within its bucket; `nil` without
    /// observations.
    func quantile(_ part: Double, since earlier: StatisticsHistogram?) -> Double? {
        let before = earlier?.counts ?? counts.map { _ in 0 }
        guard before.count == counts.count, counts.count == bounds.count + 1 else { return nil }
        let new = zip(counts, before).map { now, then in max(0, now - then) }
        let total = new.reduce(0, +)
        guard total > 0 else { return nil }
        let target = part * Double(total)
        var below = 0.0
        for (index, count) in new.enumerated() where count > 0 {
            if below + Double(count) >= target {
                let low = index == 0 ? 0 : Double(bounds[index - 1])
                // The last bucket has no upper bound.
                let high = index < bounds.count ? Double(bounds[index]) : low
                return (low + (high - low) * (target - below) / Double(count)) / 1e9
            }
            below += Double(count)
        }
        return nil
    }
}

/// The counters of a process at one moment.
public struct StatisticsCounters: Sendable {
    /// Numbers that only grow; samples show their growth per second.
    public var totals: [StatisticsSeries: Double] = [:]
    /// Numbers that samples show as they are.
    public var gauges: [StatisticsSeries: Double] = [:]
    /// The durations of requests that send messages, that read, and of all others but streams and transfers, and of commits.
    public var send, read, other, commit: StatisticsHistogram?

    /// No counters.
    public init() {}
}

/// The values of all series in one interval.
struct StatisticsSample: Sendable {
    /// In the order of the series; NaN where there is no value.
    private var values: [Double]

    /// - Parameter seconds: The time between the two states.
    init(_ now: StatisticsCounters, since earlier: StatisticsCounters, seconds: Double) {
        values = [Double](repeating: .nan, count: StatisticsSeries.allCases.count)
        for (series, value) in now.gauges { self[series] = value }
        for (series, value) in now.totals {
            let before = earlier.totals[series] ?? 0
            self[series] = max(0, value - before) / max(seconds, 0.001)
        }
        let latencies: [(StatisticsHistogram?, StatisticsHistogram?, [StatisticsSeries])] = [
            (now.send, earlier.send, [.sendP50, .sendP95, .sendP99]),
            (now.read, earlier.read, [.readP50, .readP95, .readP99]),
            (now.other, earlier.other, [.otherP50, .otherP95, .otherP99]),
            (now.commit, earlier.commit, [.commitP50, .commitP95, .commitP99]),
        ]
        for (histogram, before, series) in latencies {
            for (series, part) in zip(series, [0.5, 0.95, 0.99]) {
                self[series] = histogram?.quantile(part, since: before)
            }
        }
    }

    /// Writes a member for each series.
    func write(into writer: inout JSONWriter) {
        for series in StatisticsSeries.allCases {
            writer.key(series.rawValue)
            writer.write(self[series])
        }
    }

    subscript(series: StatisticsSeries) -> Double? {
        get {
            let value = values[series.place]
            return value.isNaN ? nil : value
        }
        set { values[series.place] = newValue ?? .nan }
    }
}

extension StatisticsSeries {
    private static let places = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { index, series in (series, index) })

    /// The place in a sample.
    fileprivate var place: Int { Self.places[self] ?? 0 }
}

/// The samples of the latest hour or day, at regular intervals; `nil` where none was taken.
struct StatisticsRing: Sendable {
    enum Range: CaseIterable, Sendable {
        case hour, day

        /// In milliseconds.
        var step: Int64 { self == .hour ? 10_000 : 300_000 }
        var capacity: Int { self == .hour ? 360 : 288 }
    }

    /// In milliseconds.
    let step: Int64
    private let capacity: Int
    /// The start of the interval of the first sample, in milliseconds since 1970.
    private(set) var start: Int64 = 0
    private(set) var samples: [StatisticsSample?] = []

    init(_ range: Range) {
        step = range.step
        capacity = range.capacity
        samples.reserveCapacity(range.capacity + 1)
    }

    /// Adds the sample of the interval that contains a moment. Intervals without a sample are gaps; after a time without
    /// any, and when the clock was set back, the ring begins again.
    mutating func add(_ sample: StatisticsSample, at now: Int64) {
        let interval = now - now % step
        let index = (interval - start) / step
        if samples.isEmpty || index < 0 || index > Int64(samples.count + capacity) {
            samples.removeAll(keepingCapacity: true)
            start = interval
        }
        let place = Int((interval - start) / step)
        while samples.count <= place { samples.append(nil) }
        samples[place] = sample
        let surplus = samples.count - capacity
        if surplus > 0 {
            samples.removeFirst(surplus)
            start += Int64(surplus) * step
        }
    }
}

/// Samples the counters of this process: every ten seconds into rings, and every second while a client watches.
public final class Statistics: Sendable {
    private struct Rings {
        var hour = StatisticsRing(.hour)
        var day = StatisticsRing(.day)
    }

    private struct Watchers {
        var streams: [ObjectIdentifier: StatisticsStream] = [:]
        var isRunning = false
    }

    private let read: @Sendable () async -> StatisticsCounters
    private let clock: @Sendable () -> Timestamp
    private let rings = Locked(Rings())
    private let watchers = Locked(Watchers())
    private let work = BackgroundTask()

    /// - Parameters:
    ///   - clock: Returns the current time.
    ///   - read: Reads the counters.
    public init(
        clock: @escaping @Sendable () -> Timestamp,
        read: @escaping @Sendable () async -> StatisticsCounters
    ) {
        self.clock = clock
        self.read = read
    }

    /// Starts sampling. Call it once.
    public func start() { work.start { [weak self] in await self?.run() } }

    /// Stops sampling.
    public func stop() async { await work.stop() }

    /// The latest sample of ten seconds; `nil` before the first.
    var latest: StatisticsSample? {
        rings.withLock { rings in rings.hour.samples.last.flatMap(\.self) }
    }

    func ring(_ range: StatisticsRing.Range) -> StatisticsRing {
        rings.withLock { rings in range == .hour ? rings.hour : rings.day }
    }

    private func run() async {
        let (step, long) = (StatisticsRing.Range.hour.step, StatisticsRing.Range.day.step)
        var (last, lastAt) = (await read(), clock().milliseconds)
        var (first, firstAt) = (last, lastAt)
        while !Task.isCancelled {
            await pause(milliseconds: step)
            if Task.isCancelled { return }
            let (counters, now) = (await read(), clock().milliseconds)
            let sample = StatisticsSample(
                counters, since: last, seconds: Double(now - lastAt) / 1000)
            rings.withLock { rings in rings.hour.add(sample, at: now) }
            (last, lastAt) = (counters, now)
            guard now / long != firstAt / long else { continue }
            let average = StatisticsSample(
                counters, since: first, seconds: Double(now - firstAt) / 1000)
            let at = firstAt
            rings.withLock { rings in rings.day.add(average, at: at) }
            (first, firstAt) = (counters, now)
        }
    }

    // MARK: - Watching

    /// Sends a sample each second to a stream, until it is removed.
    func add(_ stream: StatisticsStream) {
        let starts = watchers.withLock { watchers in
            watchers.streams[ObjectIdentifier(stream)] = stream
            defer { watchers.isRunning = true }
            return !watchers.isRunning
        }
        if starts { Task { [weak self] in await self?.watch() } }
    }

    func remove(_ stream: StatisticsStream) {
        watchers.withLock { watchers in watchers.streams[ObjectIdentifier(stream)] = nil }
    }

    private func watch() async {
        var (last, lastAt) = (await read(), clock().milliseconds)
        while true {
            await pause(milliseconds: 1000)
            let streams = watchers.withLock { watchers in
                if watchers.streams.isEmpty { watchers.isRunning = false }
                return Array(watchers.streams.values)
            }
            guard !streams.isEmpty else { return }
            let (counters, now) = (await read(), clock().milliseconds)
            let sample = StatisticsSample(
                counters, since: last, seconds: Double(now - lastAt) / 1000)
            (last, lastAt) = (counters, now)
            // Encoded once for all streams.
            guard let event = StatisticsStream.event(sample, at: Timestamp(milliseconds: now))
            else { continue }
            for stream in streams { stream.send(event) }
        }
    }
}
