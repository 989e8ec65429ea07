import HTTP
import JSON
import Messaging
import SystemSupport

/// The event stream of the overview: `hello`, then `stats` each second.
final class StatisticsStream: EventStreamHandler {
    private let statistics: Statistics
    private let hello: EncodedEvent?
    private let stream = Locked<EventStream?>(nil)

    /// - Parameter process: The id of this process.
    init(_ statistics: Statistics, process: String, at now: Timestamp) {
        self.statistics = statistics
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("time", now)
            writer.member("process", process)
        }
        hello = EncodedEvent(data: writer.finish(), name: "hello")
    }

    /// A sample as an event.
    static func event(_ sample: StatisticsSample, at now: Timestamp) -> EncodedEvent? {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("time", now)
            sample.write(into: &writer)
        }
        return EncodedEvent(data: writer.finish(), name: "stats")
    }

    func send(_ event: EncodedEvent) {
        _ = stream.withLock { stream in stream }?.send(event)
    }

    // MARK: - EventStreamHandler

    func opened(_ stream: EventStream) {
        self.stream.withLock { known in known = stream }
        if let hello { stream.send(hello) }
        statistics.add(self)
    }

    func closed(_ stream: EventStream) {
        statistics.remove(self)
        self.stream.withLock { known in known = nil }
    }
}
