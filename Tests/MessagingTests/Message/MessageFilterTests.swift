import Messaging
import Testing

@Suite struct `Filters of messages` {
    private func message(
        by sender: String = "ana", at position: Int64 = 3, _ types: [String] = ["text/plain"],
        content: Bool = false
    ) -> Message {
        Message(
            id: .v7(at: Timestamp(milliseconds: 5), random: 1),
            conversation: .v7(at: Timestamp(milliseconds: 5), random: 2),
            position: Position(position), sender: UserID(sender).map(Sender.user) ?? .named(sender),
            sentAt: Timestamp(milliseconds: 1000),
            parts: types.enumerated().map { index, type in
                MessagePart(
                    id: .v7(at: Timestamp(milliseconds: 5), random: UInt128(index)), index: index,
                    mimeType: type,
                    body: content
                        ? .content(.v7(at: Timestamp(milliseconds: 5), random: 9), size: 1)
                        : .inline([]))
            })
    }

    private func passes(
        _ message: Message, reader: MessageFilter.Reader? = nil,
        _ make: (inout MessageFilter) -> Void
    ) -> Bool {
        var filter = MessageFilter()
        make(&filter)
        return filter.admits(message, reader: reader)
    }

    @Test func `without conditions match everything (X9)`() {
        #expect(MessageFilter().isEmpty)
        #expect(passes(message()) { _ in })
    }

    @Test func `match the sender (X9)`() {
        #expect(passes(message()) { $0.sender = UserID("ana") })
        #expect(!passes(message()) { $0.sender = UserID("bo") })
    }

    @Test func `match a media type or range in any part (X9)`() {
        let mixed = message(["text/plain; charset=utf-8", "IMAGE/png"])
        for range in ["text/plain", "image/*", "image/png", "*/*"] {
            #expect(passes(mixed) { $0.media = MediaRange(range) }, "\(range)")
        }
        #expect(!passes(mixed) { $0.media = MediaRange("image/jpeg") })
        #expect(!passes(mixed) { $0.media = MediaRange("video/*") })
    }

    @Test(arguments: TransferStatus.allCases)
    func `count contents of sent messages as ready (X9, R24)`(status: TransferStatus) {
        #expect(passes(message(content: true)) { $0.transfer = status } == (status == .ready))
        #expect(!passes(message()) { $0.transfer = status })
    }

    @Test func `exclude their own limits of time (X9)`() {
        #expect(passes(message()) { $0.sentAfter = Timestamp(milliseconds: 999) })
        #expect(!passes(message()) { $0.sentAfter = Timestamp(milliseconds: 1000) })
        #expect(passes(message()) { $0.sentBefore = Timestamp(milliseconds: 1001) })
        #expect(!passes(message()) { $0.sentBefore = Timestamp(milliseconds: 1000) })
    }

    @Test func `select the unread messages of a user (X9, R12)`() throws {
        let bo = try #require(UserID("bo"))
        let reader = MessageFilter.Reader(
            Participant(userID: bo, joinedAfter: Position(1)),
            Receipts(read: IntervalSet(4...5)))
        let unread = { (message: Message, reader: MessageFilter.Reader?) in
            passes(message, reader: reader) { $0.unreadBy = bo }
        }
        #expect(unread(message(at: 3), reader))
        #expect(!unread(message(at: 4), reader))
        #expect(!unread(message(at: 1), reader))
        #expect(!unread(message(by: "bo", at: 3), reader))
        #expect(!unread(message(at: 3), nil))
    }
}
