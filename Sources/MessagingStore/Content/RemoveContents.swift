public import Messaging
import SQL

extension MessagingStore {
    /// Deletes a content of any application, unless a message or a scheduled message uses it.
    ///
    /// - Returns: False when it is used; true also for an unknown content.
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
    /// Deletes an unused content.
    ///
    /// - Returns: False when it is used.
    func withdraw(_ id: Content.ID) throws -> Bool {
        guard let uses = try transaction.useCount(of: id, in: application) else { return true }
        guard uses == 0 else { return false }
        try record(.contentWithdrawn(ContentWithdrawn(content: id)))
        return true
    }
}

extension Transaction {
    /// The number of parts and scheduled messages that use a content; `nil` for an unknown one.
    fileprivate func useCount(of id: Content.ID, in application: Application.ID) throws -> Int64? {
        try first(
            "SELECT use_count FROM contents WHERE application = \(application) AND id = \(id)"
        ) { row in try row.int64(0) }
    }
}

/// A deleted content whose bytes are still to be deleted.
public struct DroppedContent: Hashable, Sendable {
    /// The application that it belonged to.
    public let application: Application.ID
    /// Its id.
    public let id: Content.ID
}

// The steps of deleting contents with their bytes; each can be repeated after a crash.
extension MessagingStore {
    /// Deletes unused contents that were completed before a moment.
    ///
    /// - Parameter limit: The maximum number of contents, of all applications.
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
            // If a message uses it by now, it stays.
            _ = try await change(in: application) { context in try context.withdraw(id) }
        }
    }

    /// The deleted contents whose bytes are still to be deleted.
    ///
    /// - Parameter limit: The maximum number of contents, of all applications.
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

    /// Records that the bytes of deleted contents were deleted durably.
    public func eraseContents(
        _ ids: [Content.ID], in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            try context.record(.contentsErased(ContentsErased(contents: ids)))
        }
    }

    /// The number of bytes of all contents of an application; 0 for an unknown one.
    public func contentBytes(in application: Application.ID) async throws -> Int64 {
        try await database.read { transaction in try transaction.contentBytes(in: application) }
    }
}
