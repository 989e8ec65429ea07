import Bytes
public import Messaging

/// Which messages a client receives of a conversation that becomes visible, and of those that were sent since its cursor
/// (Y1). Changes and deletions of older messages are received in any case.
public enum FeedHistory: Hashable, Sendable {
    /// Those at the newest positions, at most that many.
    case newest(Int64)
    /// Those from the first unread one on; the newest one if all are read.
    case unread
    case all

    /// The largest number of ``newest(_:)``; it is above the number of positions of every conversation.
    public static let limit: Int64 = 1 << 40
}

/// A place in the feed of a user: what the client has received (Y1).
///
/// Its text begins with the epoch of the database and a position of the event log: the client has every change up to
/// that position. What follows says how far an unfinished answer has come.
public struct FeedCursor: Equatable, Sendable {
    /// Names the history of the database: a restored one has another. 16 hexadecimal digits.
    public let epoch: String
    /// The client has every change up to this position.
    public let position: LogPosition
    /// How far a snapshot or a catch-up has come; `nil` if neither is unfinished.
    let rest: Rest?

    init(epoch: String, position: LogPosition, rest: Rest?) {
        self.epoch = epoch
        self.position = position
        self.rest = rest
    }

    /// The cursor of a client that has every change up to a position.
    ///
    /// - Parameter epoch: As returned by `MessagingStore.epoch`.
    public init(epoch: String, position: LogPosition) {
        self.init(epoch: epoch, position: position, rest: nil)
    }

    /// An unfinished answer.
    enum Rest: Equatable, Sendable {
        case snapshot(Snapshot)
        case catchUp(CatchUp)
    }

    /// A snapshot: the state from nothing.
    struct Snapshot: Equatable, Sendable {
        /// The end of the log when the snapshot began. A catch-up from there follows the snapshot.
        let end: LogPosition
        let history: FeedHistory
        let place: Place

        /// What comes next.
        enum Place: Equatable, Sendable {
            case identities(after: UserID?)
            /// Conversations, the newest first.
            case conversations(after: Listed?)
            /// The rest of the window of a conversation.
            case window(Listed, WindowPlace)
            case announcements(after: Listed?)
        }

        /// An object in a list that is sorted by time.
        struct Listed: Equatable, Sendable {
            let time: Timestamp
            let id: [UInt8]
        }
    }

    /// What comes next of a conversation that becomes visible, after the conversation itself.
    enum WindowPlace: Equatable, Sendable {
        case receipts(after: [UInt8])
        case messages(after: Position)

        static let start = WindowPlace.receipts(after: [])
    }

    /// The changes after a position.
    struct CatchUp: Equatable, Sendable {
        /// Where the catch-up began.
        let base: LogPosition
        /// The end of the log when it began.
        let end: LogPosition
        let history: FeedHistory
        /// The last object received of the event after the position of the cursor; `nil` for none.
        let object: FeedOrder?
    }
}

/// The order of the objects that one event has changed.
struct FeedOrder: Comparable, Sendable {
    enum Stage: UInt8 {
        case conversation, receipts, identity, announcement, message
        /// The window of a conversation that becomes visible.
        case window
    }

    let stage: Stage
    let id: [UInt8]

    static func < (left: FeedOrder, right: FeedOrder) -> Bool {
        guard left.stage == right.stage else { return left.stage.rawValue < right.stage.rawValue }
        return left.id.lexicographicallyPrecedes(right.id)
    }
}

extension FeedCursor {
    /// The text: `{epoch}.{position}`, and `.{base64url}` for an unfinished answer.
    public var text: String {
        guard let rest else { return "\(epoch).\(position.number)" }
        var writer = ByteWriter()
        switch rest {
        case .snapshot(let snapshot):
            writer.write(byte: 1)
            snapshot.write(to: &writer)
        case .catchUp(let catchUp):
            writer.write(byte: 2)
            catchUp.write(to: &writer)
        }
        return "\(epoch).\(position.number).\(Base64.encodeForURL(writer.bytes))"
    }

    /// Parses ``text``; `nil` if it has another form.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), text.utf8.count <= Self.longestText,
            parts[0].utf8.count == 16,
            parts[0].utf8.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
            }),
            !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(parts[1])
        else { return nil }
        var rest: Rest?
        if parts.count == 3 {
            guard let bytes = Base64.decodeForURL(parts[2]), let known = try? Rest(bytes) else {
                return nil
            }
            rest = known
        }
        self.init(epoch: String(parts[0]), position: LogPosition(number), rest: rest)
    }

    /// Above the longest text, which has a user id of 128 characters.
    private static let longestText = 2048
}

extension FeedCursor.Rest {
    fileprivate init(_ bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        self =
            switch try reader.byte() {
            case 1: .snapshot(try FeedCursor.Snapshot(from: &reader))
            case 2: .catchUp(try FeedCursor.CatchUp(from: &reader))
            case let other: throw StoreFault.unreadable("kind \(other) of a cursor")
            }
        try reader.finish()
    }
}

extension FeedCursor.Snapshot {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(end.number)
        history.write(to: &writer)
        switch place {
        case .identities(let last):
            writer.write(byte: 0)
            writer.write(optional: last) { writer, user in writer.write(user) }
        case .conversations(let last):
            writer.write(byte: 1)
            writer.write(optional: last) { writer, listed in listed.write(to: &writer) }
        case .window(let conversation, let place):
            writer.write(byte: 2)
            conversation.write(to: &writer)
            switch place {
            case .receipts(let user):
                writer.write(byte: 0)
                writer.write(user)
            case .messages(let position):
                writer.write(byte: 1)
                writer.write(position)
            }
        case .announcements(let last):
            writer.write(byte: 3)
            writer.write(optional: last) { writer, listed in listed.write(to: &writer) }
        }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        let end = LogPosition(try reader.number())
        let history = try FeedHistory(from: &reader)
        let place: Place =
            switch try reader.byte() {
            case 0: .identities(after: try reader.optional { reader in try reader.user() })
            case 1:
                .conversations(after: try reader.optional { reader in try Listed(from: &reader) })
            case 2:
                .window(
                    try Listed(from: &reader),
                    try reader.byte() == 0
                        ? .receipts(after: try reader.bytes())
                        : .messages(after: try reader.position()))
            case 3:
                .announcements(after: try reader.optional { reader in try Listed(from: &reader) })
            case let other: throw StoreFault.unreadable("place \(other) of a cursor")
            }
        self.init(end: end, history: history, place: place)
    }
}

extension FeedCursor.Snapshot.Listed {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(time)
        writer.write(id)
    }

    fileprivate init(from reader: inout ByteReader) throws {
        self.init(time: try reader.timestamp(), id: try reader.bytes())
    }
}

extension FeedCursor.CatchUp {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(base.number)
        writer.write(end.number)
        history.write(to: &writer)
        writer.write(optional: object) { writer, object in
            writer.write(byte: object.stage.rawValue)
            writer.write(object.id)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        self.init(
            base: LogPosition(try reader.number()), end: LogPosition(try reader.number()),
            history: try FeedHistory(from: &reader),
            object: try reader.optional { reader in
                FeedOrder(
                    stage: try reader.valid(
                        FeedOrder.Stage(rawValue: try reader.byte()), "stage of a cursor"),
                    id: try reader.bytes())
            })
    }
}

extension FeedHistory {
    fileprivate func write(to writer: inout ByteWriter) {
        switch self {
        case .newest(let count): writer.write(count)
        case .unread: writer.write(-1)
        case .all: writer.write(-2)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        self =
            switch try reader.number() {
            case -1: .unread
            case -2: .all
            case let count where (0...Self.limit).contains(count): .newest(count)
            case let other: throw StoreFault.unreadable("history \(other) of a cursor")
            }
    }
}
