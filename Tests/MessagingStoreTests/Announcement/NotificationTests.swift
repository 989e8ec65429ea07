import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Notifications without a message` {
    @Test func `R113: a notification is in the log with all its members (5.6)`() async throws {
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

    @Test func `1.9: a key detects a repeat for 24 hours, and not longer`() async throws {
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

    @Test func `expired keys are deleted`() async throws {
        let sample = try await SampleApplication()
        for number in 1...5 {
            try await sample.notify(key: .sample(UInt128(number)))
            sample.wait(milliseconds: PushNotification.keyLifetime)
        }
        try await sample.notify()
        #expect(try await sample.rows().filter { $0.hasPrefix("notification_keys ") } == [])
    }

    @Test func `an expired key can be used again, before and after its row is deleted`()
        async throws
    {
        let sample = try await SampleApplication()
        for number in 1...4 { try await sample.notify(key: .sample(UInt128(number))) }
        sample.wait(milliseconds: PushNotification.keyLifetime)
        let kinds = try await sample.kinds {
            for number in [4, 3, 2, 1, 4] { try await sample.notify(key: .sample(UInt128(number))) }
        }
        #expect(kinds == Array(repeating: "notification.sent", count: 4))
    }

    @Test func `R111: twenty requests with one key send one`() async throws {
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
