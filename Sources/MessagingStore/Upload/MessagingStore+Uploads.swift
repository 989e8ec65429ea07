import Bytes
import SQL

/// The record of an upload that several processes share, and what they look for.
public struct UploadRow: Sendable, Equatable {
    /// SHA-256 of its token, in hexadecimal digits.
    public let name: String
    /// Rises with each replacement.
    public let version: Int64
    /// The process that replaced it last.
    public let holder: [UInt8]
    /// The content that comes by it.
    public let content: String
    /// The application it belongs to.
    public let application: String
    /// The owner that it was created for, within its application.
    public let owner: String
    /// Takes bytes.
    public let isOpen: Bool
    /// Bytes that will be a content's.
    public let claimed: Int64
    /// When it has to be processed next, in milliseconds since 1970 UTC.
    public let dueAt: Int64
    /// What uploads alone read.
    public let record: [UInt8]
    /// The process that replaced it last is receiving a body.
    public let isWritten: Bool
    /// What another process asks of that process: 0 nothing, 1 to commit what it has received, 2 to stop.
    public let wanted: Int64

    /// Describes one.
    public init(
        name: String, version: Int64, holder: [UInt8], content: String, application: String,
        owner: String, isOpen: Bool, claimed: Int64, dueAt: Int64, record: [UInt8],
        isWritten: Bool = false, wanted: Int64 = 0
    ) {
        self.name = name
        self.version = version
        self.holder = holder
        self.content = content
        self.application = application
        self.owner = owner
        self.isOpen = isOpen
        self.claimed = claimed
        self.dueAt = dueAt
        self.record = record
        self.isWritten = isWritten
        self.wanted = wanted
    }

    /// What ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        "name, version, holder, content, application, owner, is_open, claimed, due_at, record, is_written, wanted"

    init(_ row: borrowing Row) throws {
        name = try row.text(0)
        version = try row.int64(1)
        holder = try row.blob(2)
        content = try row.text(3)
        application = try row.text(4)
        owner = try row.text(5)
        isOpen = try row.bool(6)
        claimed = try row.int64(7)
        dueAt = try row.int64(8)
        record = try row.blob(9)
        isWritten = try row.bool(10)
        wanted = try row.int64(11)
    }
}

/// What came of keeping the record of a new upload.
public enum UploadEntry: Sendable, Equatable {
    case kept
    /// Its owner has as many open uploads as allowed.
    case tooMany
    /// Its application would claim more bytes than allowed.
    case tooLarge
}

// The records of uploads that several processes share. They are no facts of messaging until a content is
// complete, so no event tells of them.
extension MessagingStore {
    /// The record of that name; `nil` for none.
    public func upload(_ name: String) async throws -> UploadRow? {
        try await database.read { transaction in
            try transaction.first(
                "SELECT \(raw: UploadRow.columns) FROM uploads WHERE name = \(name)"
            ) { row in try UploadRow(row) }
        }
    }

    /// The record of the upload that a content comes by; `nil` for none.
    public func upload(ofContent content: String) async throws -> UploadRow? {
        try await database.read { transaction in
            try transaction.first(
                """
                SELECT \(raw: UploadRow.columns) FROM uploads
                WHERE content = \(content) ORDER BY name LIMIT 1
                """
            ) { row in try UploadRow(row) }
        }
    }

    /// Stores a new record if its owner and its application may have one more. No other record is added
    /// between the count and the insertion.
    ///
    /// - Parameters:
    ///   - mostOpen: How many open uploads its owner may have with this one.
    ///   - mostClaimed: How many bytes its application may claim with this one; `nil` for any number.
    public func keepUpload(
        _ upload: UploadRow, mostOpen: Int, mostClaimed: Int64?
    ) async throws -> UploadEntry {
        try await database.write { transaction in
            let open = try transaction.first(
                """
                SELECT COUNT(*) FROM uploads
                WHERE application = \(upload.application) AND owner = \(upload.owner)
                    AND is_open = 1
                """
            ) { row in try row.int64(0) }
            if let open, open >= mostOpen { return .tooMany }
            if let mostClaimed {
                let claimed = try transaction.claimed(by: upload.application)
                if upload.claimed > mostClaimed - claimed { return .tooLarge }
            }
            try transaction.execute(
                """
                INSERT INTO uploads (\(raw: UploadRow.columns))
                VALUES (\(upload.name), \(upload.version), \(upload.holder), \(upload.content),
                    \(upload.application), \(upload.owner), \(upload.isOpen), \(upload.claimed),
                    \(upload.dueAt), \(upload.record), \(upload.isWritten), \(upload.wanted))
                """)
            return .kept
        }
    }

    /// Replaces a record that has still a version. What was asked of the process that receives its body stays
    /// asked while the same process goes on to receive.
    ///
    /// - Returns: False when it has another one.
    public func replaceUpload(_ upload: UploadRow, version: Int64) async throws -> Bool {
        try await database.write { transaction in
            try transaction.rowsChanged(
                by: """
                    UPDATE uploads
                    SET version = \(upload.version), holder = \(upload.holder),
                        is_open = \(upload.isOpen), claimed = \(upload.claimed),
                        due_at = \(upload.dueAt), record = \(upload.record),
                        wanted = CASE WHEN holder = \(upload.holder)
                            THEN wanted * \(upload.isWritten) ELSE 0 END,
                        is_written = \(upload.isWritten)
                    WHERE name = \(upload.name) AND version = \(version)
                    """) > 0
        }
    }

    /// Asks the process that receives the body of an upload to commit what it has received, or to stop; it hears
    /// of it through ``listen(onUpload:)``.
    ///
    /// - Parameter request: 1 to commit, 2 to stop, which includes the other.
    /// - Returns: False when no process receives a body, and nothing is asked.
    public func askUploadWriter(
        _ name: String, holder: [UInt8], request: Int64
    ) async throws -> Bool {
        try await database.write { transaction in
            let isAsked =
                try transaction.rowsChanged(
                    by: """
                        UPDATE uploads
                        SET wanted = CASE WHEN wanted < \(request) THEN \(request) ELSE wanted END
                        WHERE name = \(name) AND holder = \(holder) AND is_written = 1
                        """) > 0
            if isAsked {
                let change = StoreNotification.upload(name, holder: String(hexadecimal: holder))
                transaction.notify(change.subject, request)
            }
            return isAsked
        }
    }

    /// Notes that the process that receives the body of an upload has done what it was asked, or that it does not
    /// answer.
    ///
    /// - Parameter isWritten: Whether it goes on to receive; false also where that is not known.
    public func answerUploadRequest(
        _ name: String, holder: [UInt8], isWritten: Bool
    ) async throws {
        try await database.write { transaction in
            try transaction.execute(
                """
                UPDATE uploads SET wanted = 0, is_written = is_written * \(isWritten)
                WHERE name = \(name) AND holder = \(holder)
                """)
        }
    }

    /// Forgets a record that has still a version.
    public func forgetUpload(_ name: String, version: Int64) async throws {
        try await database.write { transaction in
            try transaction.execute(
                "DELETE FROM uploads WHERE name = \(name) AND version = \(version)")
        }
    }

    /// The names of records that are due, those longest due first.
    public func dueUploads(at moment: Int64, limit: Int) async throws -> [String] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT name FROM uploads WHERE due_at <= \(moment)
                ORDER BY due_at, name LIMIT \(limit)
                """
            ) { row in try row.text(0) }
        }
    }

    /// Bytes that all uploads of an application claim.
    public func bytesClaimed(byUploadsOf application: String) async throws -> Int64 {
        try await database.read { transaction in try transaction.claimed(by: application) }
    }
}

extension Transaction {
    fileprivate func claimed(by application: String) throws -> Int64 {
        try first(
            """
            SELECT CAST(COALESCE(SUM(claimed), 0) AS BIGINT) FROM uploads
            WHERE application = \(application)
            """
        ) { row in try row.int64(0) } ?? 0
    }
}
