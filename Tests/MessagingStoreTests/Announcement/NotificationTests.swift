import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Notifications without a message` {
    @Test func `R113: it is in the log, whole (5.6)`() async throws {
        let sample = try await SampleApplication()
        try await sample.notify([.bo, .ana], key: .sample(1))
        guard case .notificationSent(let sent)? = try await sample.events().last?.event else {
            Issue.record("no notification in the log")
            return
        }
        #expect(sent.recipients == [.bo, .ana])
        #expect(sent.notification == Array(#"{"text":"dinner"}"#.utf8))
        #expect(sent.key == .sample(1))
    }

    @Test func `1.9: a key recognises a repeat for 24 hours, and then no more`() async throws {
        let sample = try await SampleApplication()
        let kinds = try await sample.kinds {
            try await sample.notify(key: .sample(1))
            try await sample.notify(key: .sample(1))
            sample.wait(milliseconds: PushNotification.keyLifetime - 1)
            try await sample.notify(key: .sample(1))
            sample.wait(milliseconds: 1)
            try await sample.notify(key: .sample(1))
            try await sample.notify(key: .sample(1))
        }
        #expect(kinds == ["notification.sent", "notification.sent"])
    }

    @Test func `keys that are over leave no row`() async throws {
        let sample = try await SampleApplication()
        for number in 1...5 {
            try await sample.notify(key: .sample(UInt128(number)))
            sample.wait(milliseconds: PushNotification.keyLifetime)
        }
        try await sample.notify()
        #expect(try await sample.rows().filter { $0.hasPrefix("notification_keys ") } == [])
    }

    @Test func `a key that is over serves again, whether its row has gone or not`() async throws {
        let sample = try await SampleApplication()
        for number in 1...4 { try await sample.notify(key: .sample(UInt128(number))) }
        sample.wait(milliseconds: PushNotification.keyLifetime)
        let kinds = try await sample.kinds {
            for number in [4, 3, 2, 1, 4] { try await sample.notify(key: .sample(UInt128(number))) }
        }
        #expect(kinds == Array(repeating: "notification.sent", count: 4))
    }

    @Test func `R111: twenty with one key are one`() async throws {
        let sample = try await SampleApplication()
        let kinds = try await sample.kinds {
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await sample.notify(key: .sample(1)) } }
                try await group.waitForAll()
            }
        }
        #expect(kinds == ["notification.sent"])
    }
}
