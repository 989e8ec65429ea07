import HTTP
import Synchronization

/// Ticks for all event streams together: ten thousand of them cost no timer each.
final class EventClock: Sendable {
    typealias Tick = @Sendable () -> Void

    private let ticks = Mutex<[ObjectIdentifier: Tick]>([:])

    /// Calls every tick each so many milliseconds, for as long as the process lives.
    func start(every interval: Int64) {
        Task { [self] in
            while true {
                try await Task.sleep(for: .milliseconds(interval))
                for tick in ticks.withLock({ ticks in Array(ticks.values) }) { tick() }
            }
        }
    }

    func add(_ stream: EventStream, _ tick: @escaping Tick) {
        ticks.withLock { ticks in ticks[ObjectIdentifier(stream)] = tick }
    }

    func remove(_ stream: EventStream) {
        ticks.withLock { ticks in ticks[ObjectIdentifier(stream)] = nil }
    }
}
