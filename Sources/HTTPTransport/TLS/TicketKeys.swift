import COpenSSL
import SystemSupport

/// The keys under which clients keep their sessions (RFC 5077): in memory only, never on a disk.
///
/// A new key every `rotation`; the one before it still opens its tickets, which are then replaced, so
/// that a ticket lives at most twice as long (H164).
final class TicketKeys: Sendable {
    /// One key: its name stands in the ticket in clear.
    struct Key {
        let name: [UInt8]
        let cipher: [UInt8]
        let mac: [UInt8]

        fileprivate init() {
            name = Self.random(16)
            cipher = Self.random(32)
            mac = Self.random(32)
        }

        private static func random(_ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            // Without randomness there is no TLS at all, and no handshake comes this far.
            precondition(unsafe RAND_bytes(&bytes, Int32(count)) == 1)
            return bytes
        }
    }

    private struct State {
        var current = Key()
        var previous: Key?
        var since: Int64
    }

    private let rotation: Int64
    private let clock: @Sendable () -> Int64
    private let state: Locked<State>

    /// Makes the first key.
    ///
    /// - Parameters:
    ///   - rotation: Milliseconds that a key seals tickets.
    ///   - clock: Monotonic milliseconds.
    init(
        rotation: Int64, clock: @escaping @Sendable () -> Int64 = { MonotonicClock.milliseconds }
    ) {
        self.rotation = rotation
        self.clock = clock
        state = Locked(State(since: clock()))
    }

    /// Seconds that a ticket may live: as long as its key is known, and never above a day.
    var lifetime: Int { Int(min(max(2 * rotation / 1000, 1), 86_400)) }

    /// The key that seals tickets now.
    var current: Key { state.withLock { state in turned(&state).current } }

    /// The key with a name, and whether tickets under it are to be replaced.
    func key(named name: UnsafeBufferPointer<UInt8>) -> (key: Key, isOld: Bool)? {
        state.withLock { state in
            let state = turned(&state)
            if unsafe state.current.name.elementsEqual(name) { return (state.current, false) }
            guard let previous = state.previous, unsafe previous.name.elementsEqual(name) else {
                return nil
            }
            return (previous, true)
        }
    }

    private func turned(_ state: inout State) -> State {
        let age = clock() - state.since
        if age >= rotation {
            // After a long quiet even the last key is too old.
            state.previous = age < 2 * rotation ? state.current : nil
            state.current = Key()
            state.since = clock()
        }
        return state
    }
}
