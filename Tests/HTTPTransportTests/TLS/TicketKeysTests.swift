import Synchronization
import Testing

@testable import HTTPTransport

@Suite struct `Ticket keys` {
    /// A clock that moves only when advanced.
    private final class Clock: Sendable {
        let now = Atomic<Int64>(0)
    }

    private func isOld(_ key: TicketKeys.Key, _ keys: TicketKeys) -> Bool? {
        key.name.withUnsafeBufferPointer { name in keys.key(named: name)?.isOld }
    }

    @Test func `a key encrypts for one rotation, decrypts for another, then is deleted (H164)`() {
        let clock = Clock()
        let keys = TicketKeys(rotation: 1000) { clock.now.load(ordering: .relaxed) }
        let first = keys.current
        #expect(first.name.count == 16 && first.cipher.count == 32 && first.mac.count == 32)
        for (time, expected) in [(999, false), (1000, true), (1999, true), (2000, nil)]
            as [(Int64, Bool?)]
        {
            clock.now.store(time, ordering: .relaxed)
            #expect(isOld(first, keys) == expected, "at \(time)")
        }
        #expect(keys.current.name != first.name)
    }

    @Test func `after a long pause even the last key has expired (H164)`() {
        let clock = Clock()
        let keys = TicketKeys(rotation: 1000) { clock.now.load(ordering: .relaxed) }
        let first = keys.current
        clock.now.store(2000, ordering: .relaxed)
        #expect(isOld(first, keys) == nil)
    }

    @Test(arguments: [(43_200_000, 86_400), (86_400_000, 86_400), (60_000, 120), (1, 1)])
    func `no ticket is valid for more than a day (H164)`(rotation: Int64, lifetime: Int) {
        #expect(TicketKeys(rotation: rotation).lifetime == lifetime)
    }
}
