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

    /// Whether it reports positions of messages, which a merge changes.
    var isReceipt: Bool {
        switch self {
        case .read, .delivery, .markAllRead: true
        default: false
        }
    }
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
