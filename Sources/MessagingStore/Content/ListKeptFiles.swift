public import Messaging
import SQL

/// A file that the database speaks of and that lies beside it: a content, or the archive of an export.
public struct KeptFile: Hashable, Sendable {
    /// Whose it is.
    public let application: Application.ID
    /// What it is called, and how it is found in a list.
    public let place: Place
    /// In bytes.
    public let size: Int64
    /// Its media type.
    public let mimeType: String
    /// Of all its bytes.
    public let sha256: [UInt8]
    /// What tells one attempt to make an archive from another; empty for a content.
    public let attempt: [UInt8]

    /// A place in the order in which files are listed.
    public struct Place: Hashable, Sendable {
        let kind: Kind
        let application: Application.ID
        let id: Identifier<KeptFile>

        /// The name of the file, and the id of what it is.
        public var uuid: String { id.uuid }
        /// Whether it is the archive of an export.
        public var isArchive: Bool { kind == .archive }
    }

    enum Kind: Hashable, Sendable { case content, archive }
}

extension MessagingStore {
    /// Files of all applications, contents first.
    ///
    /// - Parameters:
    ///   - after: The last one known already; `nil` for the first.
    ///   - limit: Most files.
    public func keptFiles(after place: KeptFile.Place?, limit: Int) async throws -> [KeptFile] {
        try await database.read { transaction in
            guard place?.kind != .archive else {
                return try transaction.keptArchives(after: place, limit: limit)
            }
            let contents = try transaction.keptContents(after: place, limit: limit)
            guard contents.count < limit else { return contents }
            return try contents
                + transaction.keptArchives(after: nil, limit: limit - contents.count)
        }
    }

    /// Bytes of all files of all applications.
    public func keptBytes() async throws -> Int64 {
        try await database.read { transaction in
            let sums = try transaction.rows(
                """
                SELECT CAST(COALESCE(SUM(content_bytes), 0) AS BIGINT) FROM applications
                UNION ALL
                SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM exports
                WHERE completed_at IS NOT NULL AND expired_at IS NULL AND deleted_at IS NULL
                """
            ) { row in try row.int64(0) }
            return sums.reduce(0, +)
        }
    }
}

extension Transaction {
    fileprivate func keptContents(
        after place: KeptFile.Place?, limit: Int
    ) throws -> [KeptFile] {
        try rows(
            """
            SELECT application, id, size, sha256, mime_type, NULL FROM contents
            WHERE (application, id) > (\(place?.application.bytes ?? []), \(place?.id.bytes ?? []))
            ORDER BY application, id LIMIT \(limit)
            """
        ) { row in try KeptFile(.content, row) }
    }

    fileprivate func keptArchives(
        after place: KeptFile.Place?, limit: Int
    ) throws -> [KeptFile] {
        try rows(
            """
            SELECT application, id, size, sha256, 'application/octet-stream', initial_vector FROM exports
            WHERE (application, id) > (\(place?.application.bytes ?? []), \(place?.id.bytes ?? []))
                AND completed_at IS NOT NULL AND expired_at IS NULL AND deleted_at IS NULL
            ORDER BY application, id LIMIT \(limit)
            """
        ) { row in try KeptFile(.archive, row) }
    }
}

extension KeptFile {
    /// From application, id, size, digest, media type and initial vector.
    fileprivate init(_ kind: Kind, _ row: borrowing Row) throws {
        application = try row.id(0)
        place = Place(kind: kind, application: application, id: try row.id(1))
        size = try row.int64(2)
        sha256 = try row.blob(3)
        mimeType = try row.text(4)
        attempt = try row.optionalBlob(5) ?? []
    }
}
