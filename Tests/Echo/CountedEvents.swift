import HTTP
import Synchronization

/// Events that count up, for `/sse`.
final class CountedEvents: EventStreamHandler {
    /// The number of the last event.
    private let number: Atomic<Int>
    private let clock: EventClock

    /// Begins behind a number, such as that of `Last-Event-ID` (H154).
    init(after number: Int, _ clock: EventClock) {
        self.number = Atomic(number)
        self.clock = clock
    }

    func opened(_ stream: EventStream) {
        clock.add(stream) { [self] in
            let next = number.add(1, ordering: .relaxed).newValue
            if let event = EncodedEvent(data: "\(next)", id: "\(next)") { stream.send(event) }
        }
    }

    func closed(_ stream: EventStream) { clock.remove(stream) }
}
