/// The erasure of a user (X16): a job that removes a user from all rows, and then scans all rows to prove it.
public struct Erasure: Equatable, Sendable {
    /// The id of an erasure.
    public typealias ID = Identifier<Erasure>

    /// The state of an erasure; raw values are stored and shown.
    public enum State: String, CaseIterable, Sendable {
        /// It is being worked on, or will be.
        case running
        /// No row names the user.
        case completed
        /// Rows that name the user remain after ``roundLimit`` rounds, or a fault has occurred ``faultLimit`` times in
        /// succession.
        case failed
    }

    /// What was done in one table.
    public struct Count: Equatable, Sendable {
        /// The name of the table.
        public let table: String
        /// The number of rows that the proof has scanned.
        public var scanned: Int64
        /// The number of rows that were deleted or changed.
        public var erased: Int64
        /// The number of rows that the proof has found to name the user.
        public var remaining: Int64

        /// All members.
        public init(_ table: String, scanned: Int64 = 0, erased: Int64 = 0, remaining: Int64 = 0) {
            self.table = table
            self.scanned = scanned
            self.erased = erased
            self.remaining = remaining
        }
    }

    /// Its id.
    public let id: ID
    /// The number in the name of the erased user, from 1. A number is skipped if a user of the application already has that
    /// name, for example after an import. A later import may still add another user with the same name.
    public let number: Int64
    /// The state.
    public var state: State
    /// The number of the current round, from 1.
    public var round: Int64
    /// The table that is being worked on; `nil` when the erasure has ended.
    public var table: String?
    /// Whether the proof is running.
    public var isProving: Bool
    /// The moment of the request.
    public let requestedAt: Timestamp
    /// When it was completed or failed; `nil` before.
    public var endedAt: Timestamp?
    /// What was done so far, in the order of the tables.
    public var counts: [Count]
    /// SHA-256 of no bytes if the proof found no row. Each row found replaces it by SHA-256(previous digest, table name, 0
    /// byte, key). `nil` before the proof, and when the erasure has failed without the end of a proof.
    public var digest: [UInt8]?
    /// Why it failed, or the fault of the last attempt while it is running; `nil` otherwise.
    public var error: String?

    /// The maximum number of rounds.
    public static let roundLimit: Int64 = 5
    /// The maximum number of faults in succession, without progress between them.
    public static let faultLimit: Int64 = 20
    /// The maximum number of running erasures of an application.
    public static let runningLimit = 100

    /// All members.
    public init(
        id: ID, number: Int64, state: State, round: Int64, table: String?, isProving: Bool,
        requestedAt: Timestamp, endedAt: Timestamp?, counts: [Count], digest: [UInt8]?,
        error: String?
    ) {
        self.id = id
        self.number = number
        self.state = state
        self.round = round
        self.table = table
        self.isProving = isProving
        self.requestedAt = requestedAt
        self.endedAt = endedAt
        self.counts = counts
        self.digest = digest
        self.error = error
    }

    /// The result of the last proof: the number of rows that name the user, and their digest; `nil` unless the erasure has
    /// ended with a proof.
    public var proof: (remaining: Int64, digest: [UInt8])? {
        guard state != .running, let digest else { return nil }
        return (counts.reduce(0) { sum, count in sum + count.remaining }, digest)
    }

    /// The name that replaces the id of the user.
    public var erasedUser: UserID { .erased(number) }
}

extension UserID {
    /// The name of an erased user: `erased-{number}`.
    public static func erased(_ number: Int64) -> UserID {
        UserID(known: "\(erasedPrefix)\(number)")
    }

    /// Whether it has the form of the name of an erased user, which no request may introduce.
    public var isErased: Bool {
        let bytes = text.utf8
        guard bytes.starts(with: Self.erasedPrefix.utf8) else { return false }
        let digits = bytes.dropFirst(Self.erasedPrefix.utf8.count)
        return !digits.isEmpty
            && digits.allSatisfy { byte in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    }

    private static let erasedPrefix = "erased-"
}

/// A participant of a conversation was renamed to an erased user (X16).
public struct ParticipantErased: EventPayload {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The name of the erased user.
    public let user: UserID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(conversation: Conversation.ID, user: UserID, at: Timestamp) {
        self.conversation = conversation
        self.user = user
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .participantErased }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// A message of an erased user became a tombstone: it has no parts, and another sender (X16).
public struct MessageErased: EventPayload {
    /// The message.
    public let message: Message.ID
    /// The conversation of the message.
    public let conversation: Conversation.ID
    /// The name of the erased user.
    public let sender: UserID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(
        message: Message.ID, conversation: Conversation.ID, sender: UserID, at: Timestamp
    ) {
        self.message = message
        self.conversation = conversation
        self.sender = sender
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .messageErased }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }

    /// The user.
    public var namedUsers: [UserID] { [sender] }
}

/// An announcement of an erased user became a tombstone: it has no parts, and another sender (X16).
public struct AnnouncementErased: EventPayload {
    /// The announcement.
    public let announcement: Announcement.ID
    /// The name of the erased user.
    public let sender: UserID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(announcement: Announcement.ID, sender: UserID, at: Timestamp) {
        self.announcement = announcement
        self.sender = sender
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .announcementErased }

    /// The user.
    public var namedUsers: [UserID] { [sender] }
}

extension Sender {
    /// Whether it is an erased user.
    public var isErased: Bool { userID?.isErased ?? false }
}
