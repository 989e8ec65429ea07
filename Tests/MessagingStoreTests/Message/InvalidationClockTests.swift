import Messaging
import Testing

@testable import MessagingStore

@Suite struct `A clock of changes that follows the log` {
    private let clock = InvalidationClock(isAlone: false)
    private let application = Application.ID.sample(1)
    private let conversation = Conversation.ID.sample(2)
    private let other = Conversation.ID.sample(3)

    private func position(_ number: Int64) -> LogPosition { LogPosition(number) }

    /// The validity of a message of a conversation that was read at a time.
    private func validity(in conversation: Conversation.ID, readAfter time: UInt64) -> CacheValidity
    {
        let message = Message(
            id: .sample(4), conversation: conversation, position: .start.next,
            sender: .named("Billing"), sentAt: Timestamp(milliseconds: 1), parts: [])
        return CacheValidity(message, seenBy: .system, readAfter: time, in: application)
    }

    private func isUnchanged(_ conversation: Conversation.ID, since time: UInt64, at moment: UInt64)
        -> Bool
    {
        clock.areUnchanged(
            [validity(in: conversation, readAfter: time)], at: moment, in: application) == [true]
    }

    private func change(_ conversation: Conversation.ID) -> InvalidationSubject {
        .messages(conversation, application)
    }

    @Test func `every object counts as changed until the log is followed to its end`() {
        #expect(!isUnchanged(conversation, since: 0, at: 0))
        let time = clock.restart(at: position(5), in: application)
        #expect(isUnchanged(conversation, since: time, at: time))
        #expect(!clock.isUnchanged(validity(in: conversation, readAfter: time)))
    }

    @Test func `an event changes the objects it names, and no others`() throws {
        let time = clock.restart(at: position(5), in: application)
        let later = try #require(
            clock.follow(
                [change(conversation)], after: position(5), through: position(7), readAfter: time,
                in: application))
        #expect(clock.position(in: application) == position(7))
        #expect(!isUnchanged(conversation, since: time, at: later))
        #expect(isUnchanged(conversation, since: later, at: later))
        #expect(isUnchanged(other, since: time, at: later))
    }

    @Test func `a read of an older state uses no message that was read later`() throws {
        let time = clock.restart(at: position(5), in: application)
        let later = try #require(
            clock.follow(
                [change(other)], after: position(5), through: position(7), readAfter: time,
                in: application))
        // This read has seen the log end at 6; position 7 may have changed anything.
        let moment = try #require(
            clock.follow(
                [], after: position(5), through: position(6), readAfter: time, in: application))
        #expect(moment == time)
        #expect(clock.position(in: application) == position(7))
        #expect(!isUnchanged(conversation, since: later, at: moment))
        #expect(isUnchanged(conversation, since: time, at: moment))
        #expect(!isUnchanged(other, since: time, at: moment))
    }

    @Test func `after a restart, everything read before counts as changed`() {
        let time = clock.restart(at: position(5), in: application)
        let later = clock.restart(at: position(9000), in: application)
        #expect(!isUnchanged(conversation, since: time, at: later))
        #expect(isUnchanged(conversation, since: later, at: later))
    }

    @Test func `a restart at an older position makes a gap, which is not skipped`() {
        let time = clock.restart(at: position(9), in: application)
        _ = clock.restart(at: position(5), in: application)
        #expect(
            clock.follow(
                [], after: position(9), through: position(10), readAfter: time, in: application)
                == nil)
        #expect(clock.position(in: application) == position(5))
    }
}
