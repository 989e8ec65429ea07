import Messaging
import SQL

extension Transaction {
    /// The application a content belongs to; `nil` for a content there is none of.
    func owner(of id: Content.ID) throws -> Application.ID? {
        try first("SELECT application FROM contents WHERE id = \(id)") { row in try row.id(0) }
    }

    /// Bytes of all contents of an application; 0 for one there is not.
    func contentBytes(in application: Application.ID) throws -> Int64 {
        try first(
            "SELECT content_bytes FROM applications WHERE application = \(application)"
        ) { row in try row.int64(0) } ?? 0
    }

    /// A complete content; `nil` for none.
    func content(_ id: Content.ID, in application: Application.ID) throws -> Content? {
        try first(
            """
            SELECT \(raw: Content.columns) FROM contents
            WHERE application = \(application) AND id = \(id)
            """
        ) { row in try Content(row) }
    }
}

extension Content {
    /// What ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        """
        id, conversation, mime_type, size, file_name, sha256, crc32c, md5, sha512, completed_at,
        origin
        """

    init(_ row: borrowing Row) throws {
        guard let crc32c = UInt32(exactly: try row.int64(6)) else {
            throw StoreFault.unreadable("contents.crc32c")
        }
        self.init(
            id: try row.id(0), conversation: try row.optionalID(1), mimeType: try row.text(2),
            size: try row.int64(3), fileName: try row.optionalText(4), sha256: try row.blob(5),
            crc32c: crc32c, md5: try row.optionalBlob(7), sha512: try row.optionalBlob(8),
            completedAt: try row.timestamp(9), origin: try row.optionalText(10))
    }
}
