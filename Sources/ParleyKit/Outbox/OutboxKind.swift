internal import SQL
internal import SystemSupport

/// What a row of the outbox does.
enum OutboxKind: String, Sendable {
    case create, send, patch, read, delivery
    case markAllRead = "mark_all_read"
    case deleteMessage = "delete_message"
    case deleteConversation = "delete_conversation"
    case leave, follow, unfollow
    case announcementRead = "announcement_read"
    case registerPush = "register_push"
    case unregisterPush = "unregister_push"

    /// The names, in rows, of those that change what is shown of their conversation, apart from its messages.
    static let namesOfConversationChanges = names([
        .create, .patch, .markAllRead, .deleteConversation, .leave,
    ])

    private static func names(_ kinds: [OutboxKind]) -> SQLArray { .texts(kinds.map(\.rawValue)) }

    /// Those that report positions of messages, which a merge changes.
    private static let receipts: [OutboxKind] = [.read, .delivery, .markAllRead]
    /// Their names in rows.
    static let receiptNames = names(receipts)

    /// Whether it reports positions of messages.
    var isReceipt: Bool { Self.receipts.contains(self) }
}

/// The rows of the outbox whose requests are on their way: known in memory only, so nothing hangs there after a crash.
final class OutboxActivity: Sendable {
    private let numbers = Locked<Set<Int64>>([])

    func isSending(_ number: Int64) -> Bool {
        numbers.withLock { numbers in numbers.contains(number) }
    }

    func begin(_ number: Int64) { numbers.withLock { numbers in _ = numbers.insert(number) } }

    func end(_ number: Int64) { numbers.withLock { numbers in _ = numbers.remove(number) } }
}
