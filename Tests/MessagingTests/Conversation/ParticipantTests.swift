import Messaging
import Testing

@Suite struct `Participants over time` {
    @Test func `R12: a new participant sees the history, which was not sent to them`() {
        let added = Participant(userID: .cy, joinedAfter: Position(3))
        #expect(added.sees(Position(1)))
        #expect(!added.wasPresent(at: Position(3)))
        #expect(added.wasPresent(at: Position(4)))
    }

    @Test func `R13: a removed participant still sees the past`() {
        let removed = Participant(userID: .cy).leaving(after: Position(3))
        #expect(removed.isFormer)
        #expect(removed.sees(Position(3)))
        #expect(!removed.sees(Position(4)))
        #expect(!removed.wasPresent(at: Position(4)))
    }

    @Test
    func
        `R15: a participant who is added again sees the messages in between, which were not sent to them`()
    {
        let back = Participant(userID: .cy).leaving(after: Position(3)).returning(
            after: Position(6))
        #expect(!back.isFormer)
        #expect(back.sees(Position(5)))
        #expect(
            (1...8).map { position in back.wasPresent(at: Position(position)) }
                == [true, true, true, false, false, false, true, true])
    }

    @Test func `R16: messages deleted from a view stay hidden after being added again (R15)`() {
        let back = Participant(userID: .cy, clearedTo: Position(2)).leaving(after: Position(3))
            .returning(after: Position(6))
        #expect((1...7).map { position in back.sees(Position(position)) }.firstIndex(of: true) == 2)
        #expect(back.range(upTo: Position(7)) == IntervalSet(3...7))
    }

    @Test func `R12: only messages sent during the participation can be unread`() {
        let back = Participant(userID: .cy).leaving(after: Position(3)).returning(
            after: Position(6))
        #expect(back.stay(upTo: Position(8)) == IntervalSet(7...8))
        #expect(
            (1...8).map { position in back.isInStay(Position(position)) }.firstIndex(of: true) == 6)
        #expect(Participant(userID: .cy).stay(upTo: .start).isEmpty)
    }

    @Test func `R10, R14: a former participant can read and cannot write`() throws {
        let former = Participant(userID: .cy).leaving(after: Position(3))
        try former.requireReading()
        #expect(throws: Rejection.accessDenied) { try former.requireWriting() }
    }

    @Test(arguments: [ViewState.cleared, .left, .unseen])
    func `R16, R17, R51: a conversation outside of the view cannot be read`(state: ViewState) {
        let part = Participant(userID: .cy, state: state)
        #expect(!part.sees(Position(1)))
        #expect(throws: Rejection.notFound(.conversation)) { try part.requireReading() }
    }

    @Test
    func
        `ruling 15: a participant who deleted the conversation from the own view may still write`()
        throws
    {
        try Participant(userID: .cy, state: .cleared).requireWriting()
        #expect(throws: Rejection.notFound(.conversation)) {
            try Participant(userID: .cy, state: .unseen).requireWriting()
        }
    }

    @Test func `leaving and returning with no message between makes no gap`() {
        let back = Participant(userID: .cy).leaving(after: Position(3)).returning(
            after: Position(3))
        #expect((1...5).allSatisfy { position in back.wasPresent(at: Position(position)) })
    }
}
