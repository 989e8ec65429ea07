import Messaging
import TestSupport
import Testing

@testable import MessagingStore

/// The store and the model, living the same life.
struct ModelLife {
    let shop: Shop
    var model = ViewModel()
    var dice: Generator
    let seed: UInt64
    let users: [UserID] = ["ana", "bo", "cy", "dee", "ed"].map(UserID.named)

    init(seed: UInt64) async throws {
        self.seed = seed
        dice = Generator(seed)
        shop = try await Shop()
        for user in users {
            try await shop.store.replaceIdentity(Identity(userID: user), in: shop.application)
        }
    }

    var store: MessagingStore { shop.store }
    var application: Application.ID { shop.application }

    mutating func user() -> UserID { users[dice.number(0...users.count - 1)] }

    /// Mostly a young conversation, so that some live long and many are met.
    mutating func talk() -> Int? {
        model.talks.isEmpty
            ? nil : dice.number(max(0, model.talks.count - 6)...model.talks.count - 1)
    }

    mutating func message(in index: Int) -> Int? {
        let sent = model.talks[index].sent
        return sent.isEmpty ? nil : dice.number(max(0, sent.count - 12)...sent.count - 1)
    }

    mutating func step() async throws {
        if dice.once(in: 2) { shop.wait(milliseconds: Int64(dice.number(0...2))) }
        switch dice.number(1...100) {
        case 1...10: try await create()
        case 11...50: try await send()
        case 51...60: try await changeParticipants()
        case 61...64: try await setTopic()
        case 65...70: try await deleteTalk()
        case 71...78: try await deleteMessage()
        case 79...86: try await readOne()
        case 87...94: try await readAll()
        default: try await block()
        }
    }

    /// Does it, and holds what came of it against what must.
    func expect(_ refusal: Rejection?, _ act: () async throws -> Void) async -> Bool {
        do {
            try await act()
            #expect(refusal == nil, "seed \(seed)")
        } catch let rejection as Rejection {
            #expect(rejection == refusal, "seed \(seed)")
        } catch {
            Issue.record(error)
        }
        return refusal == nil
    }

    func replay() async throws {
        try await shop.expectSameRowsAgain("seed \(seed)")
    }
}
