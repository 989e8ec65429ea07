import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Lists of many users` {
    private let many = (0..<10_000).map { number in UserID.named("user-\(number * 7919 % 10_007)") }

    @Test func `of recipients keep their order, with one copy for each (5_5, R100)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.announce(to: [.ana])
        sample.wait(milliseconds: 1)
        let all = [UserID.bo] + many.dropLast(2) + [.ana]
        let kinds = try await sample.kinds {
            let made = try await sample.announce(by: .user(.ana), to: all)
            #expect(made.object.recipients == all)
        }
        #expect(kinds == ["announcement.sent"])
        for user in [.bo, many[0], many[5000], many[9997]] {
            #expect(try await sample.announcements(for: user).count == 1)
        }
        let page = try await sample.store.announcements(for: .ana, limit: 9, in: sample.application)
        #expect(page.total == 2)
        #expect(page.items.map(\.status) == [.read, .sent])
        try await sample.notify(many)
        try await sample.expectSameRowsAgain()
    }

    @Test func `of blocked users have a limit, also for single additions (R30)`() async throws {
        let sample = try await SampleApplication()
        try await sample.patch(.ana, .setBlocks(many))
        #expect(try await sample.blocks(of: .ana).count == many.count)
        let before = try await sample.events().count
        let count = Rejection.Detail(amount: many.count + 1)
        await #expect(throws: Rejection.invalid("blocks", .blockCount, count)) {
            try await sample.patch(.ana, .block(.bo))
        }
        #expect(try await sample.events().count == before)
        // These add no user: one replaced, the same again, fewer.
        try await sample.patch(.ana, .unblock(many[0]), .block(.bo))
        try await sample.patch(.ana, .block(.bo))
        try await sample.patch(.ana, .setBlocks([.bo, .cy]))
        #expect(try await sample.blocks(of: .ana) == [.bo, .cy])
        try await sample.expectSameRowsAgain()
    }
}
