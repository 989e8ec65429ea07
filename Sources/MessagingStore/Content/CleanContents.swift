public import Messaging
import SQL

/// A content that is no more, whose bytes still lie somewhere.
public struct DroppedContent: Hashable, Sendable {
    /// The application it belonged to.
    public let application: Application.ID
    /// Its name.
    public let id: Content.ID
}

// What the one who deletes bytes asks and tells; each step can be repeated after a crash.
extension MessagingStore {
    /// Forgets contents that were complete before a moment and that no message shows or will.
    ///
    /// - Parameter limit: Most contents, of all applications.
    public func withdrawUnusedContents(completedBefore moment: Timestamp, limit: Int) async throws {
        let unused = try await database.read { transaction in
            try transaction.rows(
                """
                SELECT application, id FROM contents
                WHERE use_count = 0 AND completed_at < \(moment)
                ORDER BY application, completed_at LIMIT \(limit)
                """
            ) { row in (try row.id(0) as Application.ID, try row.id(1) as Content.ID) }
        }
        for (application, id) in unused {
            // A message may have come to need it meanwhile.
            _ = try await change(in: application) { recording in try recording.withdraw(id) }
        }
    }

    /// Contents whose bytes are to be deleted.
    ///
    /// - Parameter limit: Most contents, of all applications.
    public func droppedContents(limit: Int) async throws -> [DroppedContent] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT application, content FROM dropped_contents
                ORDER BY application, content LIMIT \(limit)
                """
            ) { row in DroppedContent(application: try row.id(0), id: try row.id(1)) }
        }
    }

    /// Tells that the bytes of contents are gone, durably.
    public func eraseContents(
        _ ids: [Content.ID], in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            try recording.record(.contentsErased(ids))
        }
    }

    /// Bytes of all contents of an application; 0 for one there is not.
    public func contentBytes(in application: Application.ID) async throws -> Int64 {
        try await database.read { transaction in try transaction.contentBytes(in: application) }
    }
}
