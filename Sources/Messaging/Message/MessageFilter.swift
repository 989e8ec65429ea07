/// Which messages of a list somebody wants to see (X9); all conditions have to hold.
public struct MessageFilter: Equatable, Sendable {
    /// Most items of a list that are judged for one answer; a longer one has to be narrowed by time.
    public static let limit = 10_000

    /// The user who sent it.
    public var sender: UserID?
    /// A part of it has a type in this range.
    public var media: MediaRange?
    /// A part of it has content in this state.
    public var transfer: TransferStatus?
    /// It was sent later than that.
    public var sentAfter: Timestamp?
    /// It was sent earlier than that.
    public var sentBefore: Timestamp?
    /// It was sent to this user, who has not read it; history before he joined is no such (R12), and
    /// nothing he has cleared away (R16).
    public var unreadBy: UserID?

    /// No condition.
    public init() {}

    /// What is known of the user who may not have read it.
    public struct Reader: Sendable {
        let participant: Participant
        let receipts: Receipts

        /// A participant of the conversation and his receipts there.
        public init(_ participant: Participant, _ receipts: Receipts) {
            self.participant = participant
            self.receipts = receipts
        }

        func lacks(_ message: Message) -> Bool {
            message.sender.userID != participant.userID && participant.isInStay(message.position)
                && message.position > participant.clearedTo
                && !receipts.read.contains(message.position.number)
        }
    }

    /// Whether everything passes.
    public var isEmpty: Bool { self == MessageFilter() }

    /// Whether a message passes; of its time only the bounds of a list say more.
    ///
    /// - Parameter reader: The user of ``unreadBy``; `nil` for a stranger, whom nothing was sent to.
    public func admits(_ message: Message, reader: Reader?) -> Bool {
        if let sentAfter, message.sentAt <= sentAfter { return false }
        if let sentBefore, message.sentAt >= sentBefore { return false }
        if let sender, message.sender.userID != sender { return false }
        if let media, !message.parts.contains(where: { media.contains($0.mimeType) }) {
            return false
        }
        if let transfer, !message.parts.contains(where: { $0.isTransfer(transfer) }) {
            return false
        }
        return unreadBy == nil || reader?.lacks(message) ?? false
    }
}

extension MessagePart {
    /// A message is sent with complete contents only (R24), so each is ready and none is less.
    fileprivate func isTransfer(_ status: TransferStatus) -> Bool {
        guard case .content = body else { return false }
        return status == .ready
    }
}
