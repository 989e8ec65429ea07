public import Messaging
import SQL

extension MessagingStore {
    /// Forgets a content, unless a message shows it or will; looks and forgets in one step.
    ///
    /// - Returns: False when a message needs it. True also when there is no such content.
    public func withdrawContent(_ id: Content.ID) async throws -> Bool {
        guard let owner = try await contentOwner(of: id) else { return true }
        return try await change(in: owner) { context in
            try context.withdraw(id)
        }
    }

    private func contentOwner(of id: Content.ID) async throws -> Application.ID? {
        try await database.read { transaction in try transaction.owner(of: id) }
    }
}

extension MutationContext {
    /// Forgets a content that nobody needs.
    ///
    /// - Returns: False when somebody does.
    func withdraw(_ id: Content.ID) throws -> Bool {
        guard let uses = try transaction.useCount(of: id, in: application) else { return true }
        guard uses == 0 else { return false }
        try record(.contentWithdrawn(id))
        return true
    }
}

extension Transaction {
    /// How many parts and messages that wait need a content; `nil` when there is none.
    fileprivate func useCount(of id: Content.ID, in application: Application.ID) throws -> Int64? {
        try first(
            "SELECT use_count FROM contents WHERE application = \(application) AND id = \(id)"
        ) { row in try row.int64(0) }
    }
}

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
            _ = try await change(in: application) { context in try context.withdraw(id) }
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
        try await change(in: application) { context in
            try context.record(.contentsErased(ids))
        }
    }

    /// Bytes of all contents of an application; 0 for one there is not.
    public func contentBytes(in application: Application.ID) async throws -> Int64 {
        try await database.read { transaction in try transaction.contentBytes(in: application) }
    }
}
