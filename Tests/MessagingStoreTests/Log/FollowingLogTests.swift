import Glibc
import Locking
import Messaging
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `A reader that follows the log` {
    @Test func `steps over nothing while slow and fast changes of two processes mix`() async throws
    {
        let folder = TemporaryFolder()
        let slow = try await Shop(at: folder.database)
        let fast = try await Shop(at: folder.database, opening: slow.application)
        let before = try await slow.events().count
        let isOver = Locked(false)
        let work = Task {
            defer { isOver.withLock { isOver in isOver = true } }
            async let slowly: Void = slow.change(times: 20, holding: 3000)
            async let quickly: Void = fast.change(times: 150, holding: 0)
            _ = try await (slowly, quickly)
        }
        var (place, seen, isRead) = (LogPosition.start, [Int64](), false)
        while !isRead {
            let wasOver = isOver.withLock { isOver in isOver }
            let events = try await fast.store.events(after: place, limit: 7, in: fast.application)
            seen += events.map(\.position.number)
            place = events.last?.position ?? place
            isRead = wasOver && events.isEmpty
        }
        try await work.value
        #expect(seen == Array(1...Int64(before + 170)))
    }
}

extension Shop {
    /// Records events one after the other, each in a change that stays open so many microseconds after it
    /// has its position.
    fileprivate func change(times count: Int, holding pause: UInt32) async throws {
        for number in 1...count {
            try await store.change(in: application) { recording in
                try recording.record(.sessionLifetimeSet(seconds: Int64(number)))
                if pause > 0 { usleep(pause) }
            }
        }
    }
}
