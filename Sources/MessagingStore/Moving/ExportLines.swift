import Locking
public import Messaging
import SQL

extension MessagingStore {
    /// Tells everything of an application line by line, as it is at one moment, while others go on
    /// changing it (X10).
    ///
    /// The same data gives the same lines in the same order on either engine: the application, users in
    /// the order of their names' bytes, what they want of each other, conversations in the order of their
    /// ids, each with its messages behind it, contents nobody needs yet, messages that wait, announcements,
    /// and keys. Tokens, webhooks, exports and the log itself are a server's and not told.
    ///
    /// - Parameter tell: Called on a reader's thread, which waits for it; what it throws ends this.
    /// - Throws: `Rejection.notFound(.application)`.
    public func forEachLine(
        of application: Application.ID, _ tell: @escaping @Sendable (MovedLine) throws -> Void
    ) async throws {
        let hasBegun = Locked(false)
        try await database.read { transaction in
            // A connection that breaks is looked through again: nothing may be told twice.
            guard
                hasBegun.withLock({ begun in
                    defer { begun = true }
                    return !begun
                })
            else { throw ExportInterrupted() }
            guard let found = try transaction.application(application) else {
                throw Rejection.notFound(.application)
            }
            try tell(.application(found))
            try MovedRecords(transaction: transaction, application: application).forEach { record in
                try tell(.record(record))
            }
        }
    }
}

/// The connection broke while an export was read: what has been told is not whole.
public struct ExportInterrupted: Error, CustomStringConvertible {
    /// For a person.
    public var description: String { "the connection to the database broke: begin anew" }
}

/// All records of an application in their order, a stretch in memory at a time.
struct MovedRecords {
    let transaction: Transaction
    let application: Application.ID

    /// Rows at once.
    static let stretch = 100

    func forEach(_ tell: (MovedRecord) throws -> Void) throws {
        try inStretches(users) { user in try tell(.user(user)) }
        try inStretches(relations) { relations in try tell(.relations(relations)) }
        try inStretches(conversations) { conversation in
            try tell(.conversation(conversation))
            guard conversation.conversation.deletedAt == nil else { return }
            try forEachMessage(in: conversation.conversation.id) { message in
                try tell(.message(message))
            }
        }
        try inStretches(unusedContents) { content in try tell(.content(content)) }
        try inStretches(scheduled) { message in
            try tell(.scheduled(message.record))
        }
        try inStretches(announcements) { announcement in try tell(.announcement(announcement)) }
        try inStretches(keys) { key in try tell(.key(key)) }
    }

    /// - Parameter next: The items behind one; none at the end.
    func inStretches<Item>(
        _ next: (Item?) throws -> [Item], _ tell: (Item) throws -> Void
    ) throws {
        var last: Item?
        repeat {
            let items = try next(last)
            for item in items { try tell(item) }
            last = items.last
        } while last != nil
    }
}
