public import Messaging
import SQL

extension MessagingStore {
    /// The SHA-256 of a content that is there; `nil` for none.
    public func digest(
        ofContent id: Content.ID, in application: Application.ID
    ) async throws -> [UInt8]? {
        try await database.read { transaction in
            try transaction.content(id, in: application)?.sha256
        }
    }
}

extension MessagingStore {
    /// The files of an application's contents, in the order of their ids.
    ///
    /// - Parameters:
    ///   - after: The last one known already; `nil` for the first.
    ///   - limit: Most files.
    public func contentFiles(
        of application: Application.ID, after last: Content.ID?, limit: Int
    ) async throws -> [KeptFile] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT \(raw: Content.columns) FROM contents
                WHERE application = \(application) AND id > \(last?.bytes ?? [])
                ORDER BY id LIMIT \(limit)
                """
            ) { row in KeptFile(try Content(row), of: application) }
        }
    }
}

extension KeptFile {
    /// The file of a content that comes from elsewhere.
    public init(_ content: Content, of application: Application.ID) {
        self.init(
            application: application,
            place: Place(kind: .content, application: application, id: Identifier(content.id)),
            size: content.size, mimeType: content.mimeType, sha256: content.sha256, attempt: [])
    }
}
