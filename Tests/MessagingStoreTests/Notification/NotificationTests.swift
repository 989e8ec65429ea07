import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Notifications without a message` {
    @Test func `R113: it is in the log, whole (5.6)`() async throws {
        let shop = try await Shop()
        try await shop.notify([.bo, .ana], key: .sample(1))
        guard case .notificationSent(let sent)? = try await shop.events().last?.event else {
            Issue.record("no notification in the log")
            return
        }
        #expect(sent.recipients == [.bo, .ana])
        #expect(sent.notification == Array(#"{"text":"dinner"}"#.utf8))
        #expect(sent.key == .sample(1))
    }

    @Test func `1.9: a key recognises a repeat for 24 hours, and then no more`() async throws {
        let shop = try await Shop()
        let kinds = try await shop.kinds {
            try await shop.notify(key: .sample(1))
            try await shop.notify(key: .sample(1))
            shop.wait(milliseconds: PushNotification.keyLifetime - 1)
            try await shop.notify(key: .sample(1))
            shop.wait(milliseconds: 1)
            try await shop.notify(key: .sample(1))
            try await shop.notify(key: .sample(1))
        }
        #expect(kinds == ["notification.sent", "notification.sent"])
    }

    @Test func `keys that are over leave no row`() async throws {
        let shop = try await Shop()
        for number in 1...5 {
            try await shop.notify(key: .sample(UInt128(number)))
            shop.wait(milliseconds: PushNotification.keyLifetime)
        }
        try await shop.notify()
        #expect(try await shop.rows().filter { $0.hasPrefix("notification_keys ") } == [])
    }

    @Test func `a key that is over serves again, whether its row has gone or not`() async throws {
        let shop = try await Shop()
        for number in 1...4 { try await shop.notify(key: .sample(UInt128(number))) }
        shop.wait(milliseconds: PushNotification.keyLifetime)
        let kinds = try await shop.kinds {
            for number in [4, 3, 2, 1, 4] { try await shop.notify(key: .sample(UInt128(number))) }
        }
        #expect(kinds == Array(repeating: "notification.sent", count: 4))
    }

    @Test func `R111: twenty with one key are one`() async throws {
        let shop = try await Shop()
        let kinds = try await shop.kinds {
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await shop.notify(key: .sample(1)) } }
                try await group.waitForAll()
            }
        }
        #expect(kinds == ["notification.sent"])
    }
}
