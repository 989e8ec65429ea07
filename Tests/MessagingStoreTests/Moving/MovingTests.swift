import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Moving an application` {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `X10: what was exported and imported is the same, row for row`(seed: UInt64) async throws {
        var life = try await ModelLife(seed: seed)
        for _ in 1...300 { try await life.step() }
        let lines = try await life.shop.lines()
        let copy = try await Shop(opening: life.application, isEmpty: true)
        try await copy.take(lines)
        #expect(try await copy.lines() == lines)
        try await copy.expectSameRowsAgain("seed \(seed)")
        for shop in [life.shop, copy] { try await shop.forgetDeleted() }
        // Former states belong to the log.
        let left = Set(["schema_migrations", "events", "log_positions"])
            .union(Transaction.historyTables.map(\.name.description))
        let rows = try await life.shop.rows(except: left)
        #expect(try await copy.rows(except: left) == rows, "seed \(seed)")
    }

    @Test func `X10: a world with a little of everything comes over whole`() async throws {
        let shop = try await Shop()
        try await shop.live()
        let lines = try await shop.lines()
        let copy = try await Shop(opening: shop.application, isEmpty: true)
        try await copy.take(lines)
        let again = try await copy.lines()
        for (line, other) in zip(lines, again) { #expect(line == other) }
        #expect(again.count == lines.count)
        try await copy.expectSameRowsAgain()
    }

    @Test func `X10: the same import again changes nothing`() async throws {
        let shop = try await Shop()
        try await shop.live()
        let lines = try await shop.lines()
        let copy = try await Shop(opening: shop.application, isEmpty: true)
        try await copy.take(lines)
        let rows = try await copy.rows()
        let outcomes = try await copy.take(lines)
        #expect(Set(outcomes) == [.present])
        #expect(try await copy.rows() == rows)
    }

    @Test(arguments: [0.1, 0.3, 0.5, 0.7, 0.9])
    func `X10: an import that was cut goes on where it was`(share: Double) async throws {
        var life = try await ModelLife(seed: 9)
        for _ in 1...120 { try await life.step() }
        let lines = try await life.shop.lines()
        let copy = try await Shop(opening: life.application, isEmpty: true)
        try await copy.take(Array(lines.prefix(Int(Double(lines.count) * share))))
        try await copy.take(lines)
        #expect(try await copy.lines() == lines)
    }

    @Test func `X1: distinct conversations of both sides become one`() async throws {
        let (here, there) = try await twoSides()
        let (winner, loser) = (here.conversation, there.conversation)
        let outcomes = try await here.shop.take(try await there.shop.lines())
        #expect(outcomes.contains(.merged))
        #expect(
            try await here.shop.store.conversation(loser, in: here.shop.application)
                .conversation.id == winner)
        #expect(
            try await here.shop.texts(of: winner) == ["there 2", "here 2", "there 1", "here 1"])
        let sent = try await here.shop.send("later", to: loser).object.message
        #expect(sent.conversation == winner)
        let rows = try await here.shop.rows()
        let again = try await here.shop.take(try await there.shop.lines())
        #expect(Set(again) == [.present])
        #expect(try await here.shop.rows() == rows)
        try await here.shop.expectSameRowsAgain()
    }

    @Test func `X1: what was said there since comes into the winner in its order`() async throws {
        let (here, there) = try await twoSides()
        try await here.shop.take(try await there.shop.lines())
        there.shop.tick()
        try await there.shop.send("there 3", to: there.conversation)
        try await here.shop.take(try await there.shop.lines())
        #expect(
            try await here.shop.texts(of: here.conversation)
                == ["there 3", "there 2", "here 2", "there 1", "here 1"])
        try await here.shop.expectSameRowsAgain()
    }

    @Test func `rulings 12: a message deleted here stays deleted`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let message = try await shop.send(to: conversation).object.message.id
        let lines = try await shop.lines()
        try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        let rows = try await shop.rows()
        #expect(Set(try await shop.take(lines)) == [.present])
        #expect(try await shop.rows() == rows)
    }

    @Test func `X10: a record that cannot be kept takes its transaction with it`() async throws {
        let shop = try await Shop()
        let message = Message(
            id: .sample(1), conversation: .sample(2), position: Position(1), sender: .user(.ana),
            sentAt: Timestamp(milliseconds: 1),
            parts: [MessagePart(id: .sample(3), index: 0, mimeType: "a/b", body: .inline([1]))])
        let rows = try await shop.rows()
        let steps: [ImportStep] = [
            .record(.relations(MovedRelations(.ana, followed: [.bo]))),
            .record(.message(MovedMessage(message, places: [nil]))),
        ]
        await #expect(
            throws: ImportRefusal(
                step: 1,
                mistake: MovedMistake("conversation", "is neither on a line before nor here"))
        ) {
            try await shop.store.bring(steps, in: shop.application)
        }
        #expect(try await shop.rows() == rows)
    }

    @Test func `X10: an application that was made to be filled takes the name it has elsewhere`()
        async throws
    {
        let shop = try await Shop()
        let elsewhere = Application(
            id: shop.application, name: "Elsewhere", createdAt: Timestamp(milliseconds: 1),
            sessionLifetime: 3600)
        #expect(try await shop.store.bringApplication(elsewhere) == .brought)
        #expect(try await shop.store.application(shop.application) == elsewhere)
        #expect(try await shop.store.bringApplication(elsewhere) == .present)
        try await shop.expectSameRowsAgain()
        try await shop.send(to: try await shop.conversation())
        let other = Application(id: shop.application, name: "Other", createdAt: elsewhere.createdAt)
        #expect(try await shop.store.bringApplication(other) == .present)
        #expect(try await shop.store.application(shop.application) == elsewhere)
    }

    @Test func `X6: nobody outside is told of what was imported`() async throws {
        let shop = try await Shop()
        try await shop.send(to: try await shop.conversation())
        let copy = try await Shop(opening: shop.application, isEmpty: true)
        try await copy.take(try await shop.lines())
        #expect(try await copy.events().compactMap(\.event.tellable).isEmpty)
    }

    private struct Side {
        let shop: Shop
        let conversation: Conversation.ID
    }

    /// Two servers of one application, on which two users have said two things each, in turn.
    private func twoSides() async throws -> (here: Side, there: Side) {
        let here = try await Shop()
        let there = try await Shop(opening: here.application)
        there.wait(milliseconds: 1)
        let sides = [
            (
                "here",
                Side(
                    shop: here,
                    conversation: try await here.create(isDistinct: true).object.conversation.id)
            ),
            (
                "there",
                Side(
                    shop: there,
                    conversation: try await there.create(isDistinct: true).object.conversation.id)
            ),
        ]
        for number in 1...2 {
            for (name, side) in sides {
                side.shop.tick()
                try await side.shop.send("\(name) \(number)", to: side.conversation)
            }
        }
        return (sides[0].1, sides[1].1)
    }
}
