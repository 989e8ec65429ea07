public import Messaging
import SQL

extension MessagingStore {
    /// The description of a complete content.
    ///
    /// - Parameter conversation: The conversation it must belong to; `nil` for any.
    /// - Throws: `Rejection.notFound` of the conversation or the content, also while it is incomplete;
    ///   `objectDeleted` when the given conversation is deleted.
    public func content(
        _ id: Content.ID, in conversation: Conversation.ID?,
        in application: Application.ID
    ) async throws -> Content {
        try await database.read { transaction in
            let named = try conversation.map { named in
                try transaction.liveConversationID(named, in: application)
            }
            guard let content = try transaction.content(id, in: application) else {
                throw Rejection.notFound(.content)
            }
            if let named, content.conversation != named,
                try !transaction.isShared(id, with: named, in: application)
            {
                throw Rejection.notFound(.content)
            }
            return content
        }
    }

    /// The description of a complete content, for a user that uploaded it or sees a message that attaches it (R86).
    ///
    /// - Throws: `Rejection.notFound` of an unknown user, or of the content, also while it is incomplete, and
    ///   when the user may not read it.
    public func content(
        _ id: Content.ID, seenBy user: UserID, in application: Application.ID
    ) async throws -> Content {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            guard let content = try transaction.content(id, in: application),
                try transaction.mayRead(id, user, in: application)
            else { throw Rejection.notFound(.content) }
            return content
        }
    }

    /// Checks that a user exists and is not being erased, so that content can be uploaded on their behalf.
    ///
    /// - Throws: `Rejection.notFound(.user)`, `Rejection.userErased`.
    public func requireUploader(_ user: UserID, in application: Application.ID) async throws {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            guard try transaction.userBeingErased(among: [user], in: application) == nil else {
                throw Rejection.userErased(user)
            }
        }
    }

    /// Checks that a user exists, so that their content can be read.
    ///
    /// - Throws: `Rejection.notFound(.user)`.
    public func requireUser(_ user: UserID, in application: Application.ID) async throws {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
        }
    }

    /// The description of a complete content of any application, for a request with a signed URL.
    ///
    /// - Returns: `nil` when there is none.
    public func signedContent(_ id: Content.ID) async throws -> Content? {
        try await database.read { transaction in
            let owner = try transaction.owner(of: id)
            return try owner.flatMap { owner in try transaction.content(id, in: owner) }
        }
    }
}

extension Transaction {
    /// Whether the system may attach a content to messages of a conversation: it belongs to the conversation or to none,
    /// or a message of the conversation attaches it already.
    func isUsable(
        _ content: Content, in conversation: Conversation.ID, of application: Application.ID
    ) throws -> Bool {
        try content.conversation ?? conversation == conversation
            || isShared(content.id, with: conversation, in: application)
    }

    /// Whether messages of another conversation than that of a content use it (ruling 47).
    fileprivate func isShared(
        _ id: Content.ID, with conversation: Conversation.ID, in application: Application.ID
    ) throws -> Bool {
        try first(
            """
            SELECT 1 FROM shared_contents
            WHERE application = \(application) AND content = \(id)
                AND conversation = \(conversation)
            """
        ) { _ in true } ?? false
    }

    /// Whether a user uploaded a content, or sees a message that attaches it (R86).
    func mayRead(
        _ id: Content.ID, _ user: UserID, in application: Application.ID
    ) throws -> Bool {
        let uploader = try first(
            "SELECT uploader FROM contents WHERE application = \(application) AND id = \(id)"
        ) { row in try row.optionalUser(0) }
        if uploader == user { return true }
        // With DISTINCT, SQLite would read all parts of the application in the order of their messages.
        let messages = try rows(
            "SELECT message FROM parts WHERE application = \(application) AND content = \(id)"
        ) { row in try row.id(0) as Message.ID }
        return try Set(messages).contains { message in
            try sees(message, user, in: application)
        }
    }

    private func sees(
        _ message: Message.ID, _ user: UserID, in application: Application.ID
    ) throws -> Bool {
        do {
            _ = try visibleMessage(message, for: user, in: application)
            return true
        } catch is Rejection {
            return false
        }
    }
}

extension MessagingStore {
    /// Creates the content of a complete upload (R24).
    ///
    /// Repeating it, for example after a crash, changes nothing.
    ///
    /// - Parameters:
    ///   - perspective: The user on whose behalf it was uploaded, or the system.
    ///   - quota: The maximum number of bytes of all contents of the application; `nil` for no limit.
    /// - Returns: False when the quota would be exceeded, and nothing is changed.
    /// - Throws: `Rejection.objectDeleted` when its conversation was deleted meanwhile.
    @discardableResult
    public func finishUpload(
        _ content: Content, by perspective: Perspective = .system, within quota: Int64? = nil,
        in application: Application.ID
    ) async throws -> Bool {
        try await change(in: application) { context in
            let transaction = context.transaction
            guard try transaction.content(content.id, in: application) == nil else { return true }
            var content = content
            // The conversation may have been merged into another one during the upload (X1.2).
            content.conversation = try content.conversation.map { conversation in
                try transaction.liveConversationID(conversation, in: application)
            }
            if let quota {
                let (sum, overflow) = try transaction.contentBytes(in: application)
                    .addingReportingOverflow(content.size)
                guard !overflow, sum <= quota else { return false }
            }
            try context.record(.contentUploaded(ContentUploaded(content: content)))
            if let user = perspective.user {
                try context.record(.contentOwned(ContentOwned(content: content.id, owner: user)))
            }
            return true
        }
    }
}

extension Transaction {
    /// The application that a content belongs to; `nil` for an unknown content.
    func owner(of id: Content.ID) throws -> Application.ID? {
        try first("SELECT application FROM contents WHERE id = \(id)") { row in try row.id(0) }
    }

    /// The number of bytes of all contents of an application; 0 for an unknown one.
    func contentBytes(in application: Application.ID) throws -> Int64 {
        try first(
            "SELECT content_bytes FROM applications WHERE application = \(application)"
        ) { row in try row.int64(0) } ?? 0
    }

    /// The description of a complete content; `nil` for an unknown one.
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
    /// The columns that ``init(_:)`` reads, in this order.
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
