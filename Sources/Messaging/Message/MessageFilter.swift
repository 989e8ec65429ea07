/// The conditions for messages in a list (X9); all of them must hold.
public struct MessageFilter: Equatable, Sendable {
    /// The maximum number of list items examined for one response; a longer list must be limited by time.
    public static let limit = 10_000

    /// The sender.
    public var sender: UserID?
    /// At least one part has a type in this range.
    public var media: MediaRange?
    /// At least one part has content in this state.
    public var transfer: TransferStatus?
    /// The time of sending is later than this moment.
    public var sentAfter: Timestamp?
    /// The time of sending is earlier than this moment.
    public var sentBefore: Timestamp?
    /// The message was sent to this user and is unread; history before they joined (R12) and cleared
    /// messages (R16) do not match.
    public var unreadBy: UserID?

    /// Creates a filter without conditions.
    public init() {}

    /// The receipts of the user of ``unreadBy``.
    public struct Reader: Sendable {
        private let participant: Participant
        private let receipts: Receipts

        /// A participant of the conversation and their receipts.
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

    /// Whether there is no condition.
    public var isEmpty: Bool { self == MessageFilter() }

    /// Whether a message matches.
    ///
    /// - Parameter reader: The user of ``unreadBy``; `nil` for a user that was never a participant.
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
    /// Whether the part has content in this state: a message may only attach complete contents (R24), so all are
    /// `ready`.
    fileprivate func isTransfer(_ status: TransferStatus) -> Bool {
        guard case .content = body else { return false }
        return status == .ready
    }
}
