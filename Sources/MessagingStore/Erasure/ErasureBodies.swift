public import Messaging

/// Finds a user in JSON texts that the store does not interpret, and reduces them: bodies of webhooks, answers stored under
/// idempotency keys, notifications.
public struct ErasureBodies: Sendable {
    /// Whether a JSON text names a user.
    public let namesUser: @Sendable (_ json: [UInt8], _ user: UserID) -> Bool
    /// Whether a text has the path of a user, or the id as a JSON text.
    public let namesUserInText: @Sendable (_ text: [UInt8], _ user: UserID) -> Bool
    /// What is left of the body of a webhook delivery: which event it was.
    public let delivery: @Sendable (_ body: [UInt8]) -> [UInt8]

    /// All members.
    public init(
        namesUser: @escaping @Sendable (_ json: [UInt8], _ user: UserID) -> Bool,
        namesUserInText: @escaping @Sendable (_ text: [UInt8], _ user: UserID) -> Bool,
        delivery: @escaping @Sendable (_ body: [UInt8]) -> [UInt8]
    ) {
        self.namesUser = namesUser
        self.namesUserInText = namesUserInText
        self.delivery = delivery
    }
}

/// What an erasure does with uploads, whose records are not rows of the store.
public struct ErasureUploads: Sendable {
    /// Cancels the uploads of a user and deletes their records; returns their number.
    public let remove: @Sendable (UserID, Application.ID) async throws -> Int64
    /// The number of records of uploads, and of those that name a user.
    public let count: @Sendable (UserID, Application.ID) async throws -> (all: Int64, named: Int64)

    /// All members.
    public init(
        remove: @escaping @Sendable (UserID, Application.ID) async throws -> Int64,
        count:
            @escaping @Sendable (UserID, Application.ID) async throws -> (
                all: Int64, named: Int64
            )
    ) {
        self.remove = remove
        self.count = count
    }
}
