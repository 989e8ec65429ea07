import MessagingWire
import SystemSupport
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(5))) struct `Searches of the console` {
    @Test func `run four at a time, and sixteen wait`() async throws {
        let slots = ScanSlots()
        let (counts, gate) = (Locked((running: 0, most: 0)), Gate())
        let refused = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<30 {
                group.addTask {
                    do {
                        try await slots.run {
                            counts.withLock { counts in
                                counts.running += 1
                                counts.most = max(counts.most, counts.running)
                            }
                            await gate.wait()
                            counts.withLock { counts in counts.running -= 1 }
                        }
                        return false
                    } catch {
                        #expect((error as? APIError)?.kind == .rateLimited)
                        gate.noteRefusal()
                        return true
                    }
                }
            }
            return await group.reduce(into: 0) { count, isRefused in count += isRefused ? 1 : 0 }
        }
        #expect(refused == 30 - ScanSlots.limit - ScanSlots.waitingLimit)
        #expect(counts.withLock { counts in counts.most } == ScanSlots.limit)
        // All slots are free again: as many searches wait for each other.
        let together = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<ScanSlots.limit {
                group.addTask {
                    try await slots.run {
                        together.withLock { count in count += 1 }
                        while together.withLock({ count in count < ScanSlots.limit }) {
                            await pause(milliseconds: 1)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Opens when as many searches were refused as must be.
    private final class Gate: Sendable {
        private let refusals = Locked(0)

        func noteRefusal() { refusals.withLock { count in count += 1 } }

        func wait() async {
            let most = 30 - ScanSlots.limit - ScanSlots.waitingLimit
            while refusals.withLock({ count in count < most }) { await pause(milliseconds: 1) }
        }
    }
}
