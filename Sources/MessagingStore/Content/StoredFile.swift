public import Messaging
import SQL

/// A file that the database refers to: a content, or the archive of an export.
public struct StoredFile: Hashable, Sendable {
    /// The application it belongs to.
    fileprivate let application: Application.ID
    /// Identifies it among the files of all applications.
    public let key: Key
    /// Its size in bytes.
    public let size: Int64
    /// Its media type.
    public let mimeType: String
    /// The SHA-256 of the file.
    public let sha256: [UInt8]
    /// The initial vector of an archive, which distinguishes the attempts to write it; empty for a content.
    public let attempt: [UInt8]

    /// Identifies a file among the files of all applications. Files are listed in the order of kind, application and id.
    public struct Key: Hashable, Sendable {
        fileprivate let kind: Kind
        fileprivate let application: Application.ID
        fileprivate let id: Identifier<StoredFile>

        /// The name of the file, which is the id of the content or export.
        public var uuid: String { id.uuid }
        /// Whether it is the archive of an export.
        public var isArchive: Bool { kind == .archive }
    }

    fileprivate enum Kind: Hashable, Sendable { case content, archive }
}

extension MessagingStore {
    /// A page of the files of all applications, contents first.
    ///
    /// - Parameters:
    ///   - after: The last file of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of files.
    public func storedFiles(after last: StoredFile.Key?, limit: Int) async throws -> [StoredFile] {
        try await database.read { transaction in
            guard last?.kind != .archive else {
                return try transaction.storedArchives(after: last, limit: limit)
            }
            let contents = try transaction.storedContents(after: last, limit: limit)
            guard contents.count < limit else { return contents }
            return try contents
                + transaction.storedArchives(after: nil, limit: limit - contents.count)
        }
    }

    /// The number of bytes of all contents, of at most 10,000 applications.
    public func contentBytesOfAllApplications() async throws -> Int64 {
        try await database.read { transaction in
            try transaction.first(
                """
                SELECT CAST(COALESCE(SUM(content_bytes), 0) AS BIGINT) FROM (
                    SELECT content_bytes FROM applications LIMIT 10000
                ) AS some
                """
            ) { row in try row.int64(0) } ?? 0
        }
    }

    /// The number of bytes of all files of all applications.
    public func storedFileBytes() async throws -> Int64 {
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
    fileprivate func storedContents(
        after last: StoredFile.Key?, limit: Int
    ) throws -> [StoredFile] {
        try rows(
            """
            SELECT application, id, size, sha256, mime_type, NULL FROM contents
            WHERE (application, id) > (\(last?.application.bytes ?? []), \(last?.id.bytes ?? []))
            ORDER BY application, id LIMIT \(limit)
            """
        ) { row in try StoredFile(.content, row) }
    }

    fileprivate func storedArchives(
        after last: StoredFile.Key?, limit: Int
    ) throws -> [StoredFile] {
        try rows(
            """
            SELECT application, id, size, sha256, 'application/octet-stream', initial_vector FROM exports
            WHERE (application, id) > (\(last?.application.bytes ?? []), \(last?.id.bytes ?? []))
                AND completed_at IS NOT NULL AND expired_at IS NULL AND deleted_at IS NULL
            ORDER BY application, id LIMIT \(limit)
            """
        ) { row in try StoredFile(.archive, row) }
    }
}

extension StoredFile {
    /// Reads the columns application, id, size, SHA-256, media type and initial vector.
    fileprivate init(_ kind: Kind, _ row: borrowing Row) throws {
        application = try row.id(0)
        key = Key(kind: kind, application: application, id: try row.id(1))
        size = try row.int64(2)
        sha256 = try row.blob(3)
        mimeType = try row.text(4)
        attempt = try row.optionalBlob(5) ?? []
    }
}

extension MessagingStore {
    /// The SHA-256 of a content; `nil` for an unknown one.
    public func digest(
        ofContent id: Content.ID, in application: Application.ID
    ) async throws -> [UInt8]? {
        try await database.read { transaction in
            try transaction.content(id, in: application)?.sha256
        }
    }
}

extension MessagingStore {
    /// A page of the files of an application's contents, by ascending id.
    ///
    /// - Parameters:
    ///   - after: The last content of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of files.
    public func contentFiles(
        of application: Application.ID, after last: Content.ID?, limit: Int
    ) async throws -> [StoredFile] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT \(raw: Content.columns) FROM contents
                WHERE application = \(application) AND id > \(last?.bytes ?? [])
                ORDER BY id LIMIT \(limit)
                """
            ) { row in StoredFile(try Content(row), of: application) }
        }
    }
}

extension StoredFile {
    /// The file of an imported content.
    public init(_ content: Content, of application: Application.ID) {
        self.init(
            application: application,
            key: Key(kind: .content, application: application, id: Identifier(content.id)),
            size: content.size, mimeType: content.mimeType, sha256: content.sha256, attempt: [])
    }
}
