/// An export of an application's data, encrypted with its public key (platform-api §5.12).
public struct Export: Equatable, Sendable {
    /// The id of an export.
    public typealias ID = Identifier<Export>

    /// The minimum time between two historical exports, in milliseconds: a day (platform-api §7).
    public static let historicalInterval: Int64 = 86_400_000
    /// How long an archive is stored after its completion, in milliseconds: a week.
    public static let lifetime: Int64 = 7 * 86_400_000

    /// The exported data.
    public enum Scope: Equatable, Sendable {
        /// All conversations and messages.
        case historical
        /// The events of some topics in a range of the log.
        case scheduled(Period)
    }

    /// A range of the event log.
    public struct Period: Equatable, Sendable {
        /// The last position before the range.
        public let after: LogPosition
        /// The last position of the range.
        public let through: LogPosition
        /// The topics to export.
        public let topics: [WebhookTopic]

        /// All members.
        public init(after: LogPosition, through: LogPosition, topics: [WebhookTopic]) {
            self.after = after
            self.through = through
            self.topics = topics
        }
    }

    /// The progress of the export.
    public enum Status: String, Sendable {
        case pending, executing, completed
    }

    /// Its id.
    public let id: ID
    /// The exported data.
    public let scope: Scope
    /// The public key that the archive is encrypted with, in DER, as of the request.
    public let publicKey: [UInt8]
    /// The moment of the request.
    public let createdAt: Timestamp
    /// The moment of the last start.
    public var startedAt: Timestamp?
    /// The moment when the archive was complete.
    public var completedAt: Timestamp?
    /// The moment when the archive expired.
    public var expiredAt: Timestamp?
    /// The archive; `nil` before its completion.
    public var archive: Archive?

    /// The encrypted file of an export.
    public struct Archive: Equatable, Sendable {
        /// The size in bytes.
        public let size: Int64
        /// The SHA-256 of the file, 32 bytes.
        public let sha256: [UInt8]
        /// The CRC-32C of the file.
        public let crc32c: UInt32
        /// The AES key of the archive, encrypted with the public key.
        public let encryptedKey: [UInt8]
        /// The initialization vector, 16 bytes.
        public let initialVector: [UInt8]

        /// All members.
        public init(
            size: Int64, sha256: [UInt8], crc32c: UInt32, encryptedKey: [UInt8],
            initialVector: [UInt8]
        ) {
            self.size = size
            self.sha256 = sha256
            self.crc32c = crc32c
            self.encryptedKey = encryptedKey
            self.initialVector = initialVector
        }
    }

    /// A requested export.
    public init(id: ID, scope: Scope, publicKey: [UInt8], createdAt: Timestamp) {
        self.id = id
        self.scope = scope
        self.publicKey = publicKey
        self.createdAt = createdAt
    }

    /// The progress of the export.
    public var status: Status {
        if completedAt != nil { return .completed }
        return startedAt == nil ? .pending : .executing
    }
}

/// The public key that exports are encrypted with.
public struct ExportKey: Equatable, Sendable {
    /// The key in PEM as received.
    public let pem: String
    /// The key in DER.
    public let der: [UInt8]

    /// A validated key.
    public init(pem: String, der: [UInt8]) {
        self.pem = pem
        self.der = der
    }
}

/// The schedule of an application's daily exports.
public struct ExportSchedule: Equatable, Sendable {
    /// The interval of the exports.
    public enum Interval: String, CaseIterable, Sendable {
        case daily, disabled
    }

    /// The interval of the exports.
    public let interval: Interval
    /// The exported topics, in the order given.
    public let topics: [WebhookTopic]
    /// The position after which the next export starts.
    public let position: LogPosition
    /// The moment when the next export is due; `nil` while disabled.
    public let nextAt: Timestamp?
    /// The moment of the last scheduled export.
    public let lastAt: Timestamp?
    /// The last scheduled export.
    public let last: Export.ID?

    /// A schedule as stored.
    public init(
        interval: Interval, topics: [WebhookTopic], position: LogPosition, nextAt: Timestamp?,
        lastAt: Timestamp? = nil, last: Export.ID? = nil
    ) {
        self.interval = interval
        self.topics = topics
        self.position = position
        self.nextAt = nextAt
        self.lastAt = lastAt
        self.last = last
    }

    /// The schedule of an application that has set none.
    public static let none = ExportSchedule(
        interval: .disabled, topics: [], position: .start, nextAt: nil)

    /// A day, in milliseconds.
    private static let day: Int64 = 86_400_000

    /// Returns the schedule after a request to change it.
    ///
    /// A daily schedule that stays daily keeps its next time and its position, so changing the topics skips no events.
    ///
    /// - Parameter position: The end of the log.
    public func changing(
        to interval: Interval, _ topics: [WebhookTopic], from position: LogPosition,
        at now: Timestamp
    ) -> ExportSchedule {
        let keeps = interval == .daily && self.interval == .daily
        let next = interval == .daily ? Timestamp(milliseconds: now.milliseconds + Self.day) : nil
        return ExportSchedule(
            interval: interval, topics: topics, position: keeps ? self.position : position,
            nextAt: keeps ? nextAt : next, lastAt: lastAt, last: last)
    }

    /// Returns the schedule after a due export. Missed days are skipped, because this export contains their events.
    ///
    /// - Parameter position: The end of the log and of that export.
    public func following(
        _ export: Export.ID, through position: LogPosition, at now: Timestamp
    ) -> ExportSchedule {
        let next = nextAt.map { due in
            let missed = max(0, now.milliseconds - due.milliseconds) / Self.day
            return Timestamp(milliseconds: due.milliseconds + (missed + 1) * Self.day)
        }
        return ExportSchedule(
            interval: interval, topics: topics, position: position, nextAt: next, lastAt: now,
            last: export)
    }
}
