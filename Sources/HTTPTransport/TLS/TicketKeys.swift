import COpenSSL
import SystemSupport

/// The keys that encrypt session tickets (RFC 5077); they exist only in memory.
///
/// A new key is created every `rotation`. Tickets of the previous key are accepted and replaced, so that a
/// ticket lives at most twice as long (H164).
final class TicketKeys: Sendable {
    /// A key; its name is in the ticket unencrypted.
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
            // Without random numbers there is no TLS, so no handshake gets this far.
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

    /// Creates the first key.
    ///
    /// - Parameters:
    ///   - rotation: The time in milliseconds that a key encrypts tickets.
    ///   - clock: Monotonic milliseconds.
    init(
        rotation: Int64, clock: @escaping @Sendable () -> Int64 = { MonotonicClock.milliseconds }
    ) {
        self.rotation = rotation
        self.clock = clock
        state = Locked(State(since: clock()))
    }

    /// The lifetime of a ticket in seconds: as long as its key is known, at most a day.
    var lifetime: Int { Int(min(max(2 * rotation / 1000, 1), 86_400)) }

    /// The key that encrypts tickets now.
    var current: Key { state.withLock { state in rotated(&state).current } }

    /// The key with a name, and whether its tickets must be replaced.
    func key(named name: UnsafeBufferPointer<UInt8>) -> (key: Key, isOld: Bool)? {
        state.withLock { state in
            // OpenSSL passes a name of 16 bytes that is valid during its callback.
            let state = rotated(&state)
            if unsafe state.current.name.elementsEqual(name) { return (state.current, false) }
            guard let previous = state.previous, unsafe previous.name.elementsEqual(name) else {
                return nil
            }
            return (previous, true)
        }
    }

    private func rotated(_ state: inout State) -> State {
        let age = clock() - state.since
        if age >= rotation {
            // After a long idle time the previous key has expired as well.
            state.previous = age < 2 * rotation ? state.current : nil
            state.current = Key()
            state.since = clock()
        }
        return state
    }
}
