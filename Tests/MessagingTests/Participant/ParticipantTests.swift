import Messaging
import Testing

@Suite struct `Participants over time` {
    @Test func `R12: who is added sees the history, which was not sent to him`() {
        let added = Participant(userID: .cy, joinedAfter: Position(3))
        #expect(added.sees(Position(1)))
        #expect(!added.wasPresent(at: Position(3)))
        #expect(added.wasPresent(at: Position(4)))
    }

    @Test func `R13: who is removed loses only the future`() {
        let removed = Participant(userID: .cy).leaving(after: Position(3))
        #expect(removed.isFormer)
        #expect(removed.sees(Position(3)))
        #expect(!removed.sees(Position(4)))
        #expect(!removed.wasPresent(at: Position(4)))
    }

    @Test func `R15: who is added again sees his absence, which was not sent to him`() {
        let back = Participant(userID: .cy).leaving(after: Position(3)).returning(
            after: Position(6))
        #expect(!back.isFormer)
        #expect(back.sees(Position(5)))
        #expect(
            (1...8).map { place in back.wasPresent(at: Position(place)) }
                == [true, true, true, false, false, false, true, true])
    }

    @Test func `leaving and returning without a message between leaves no gap`() {
        let back = Participant(userID: .cy).leaving(after: Position(3)).returning(
            after: Position(3))
        #expect((1...5).allSatisfy { place in back.wasPresent(at: Position(place)) })
    }
}
