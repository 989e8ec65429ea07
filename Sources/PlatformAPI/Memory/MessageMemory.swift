import Locking
import Messaging
import MessagingStore
import MessagingWire

/// Messages as they were answered lately, for reads that need not wait for the database.
///
/// Whether one is still true the store tells at every use (`MessagingStore.holds`); nothing here
/// depends on time. Messages with contents are left out: their answers hold signed URLs, which are
/// secrets and expire.
final class MessageMemory: Sendable {
    /// Who asks for what, and in which version.
    struct Key: Hashable, Sendable {
        let application: Application.ID
        let message: Message.ID
        /// `nil` for the system.
        let viewer: UserID?
        let version: APIVersion
        /// What its URLs begin with; `nil` for what the settings say.
        let base: String?
    }

    /// An answer.
    struct Kept: Sendable {
        let conversation: Conversation.ID
        /// Of the message.
        let version: Int64
        let json: [UInt8]
        let basis: MessageBasis

        /// With what the tables take beside the octets.
        fileprivate var weight: Int { json.count + 384 }
    }

    private struct State {
        var cache: BudgetedCache<Key, Kept>
        var hits = 0
        var misses = 0
    }

    private let state: Locked<State>

    /// - Parameter budget: Octets of memory for all of them; 0 for none.
    init(budget: Int) { state = Locked(State(cache: BudgetedCache(budget: budget))) }

    /// What is known of a message and still true.
    func recall(_ key: Key, from store: MessagingStore) -> Kept? {
        state.withLock { state in
            guard let kept = state.cache.value(of: key) else {
                state.misses += 1
                return nil
            }
            guard store.holds(kept.basis) else {
                state.cache.remove(key)
                state.misses += 1
                return nil
            }
            state.hits += 1
            return kept
        }
    }

    func keep(_ kept: Kept, of key: Key) {
        state.withLock { state in state.cache.keep(kept, of: key, weighing: kept.weight) }
    }

    /// What became of it so far.
    var statistics: MemoryStatistics {
        state.withLock { state in
            MemoryStatistics(
                hits: state.hits, misses: state.misses, bytes: state.cache.weight)
        }
    }
}

/// How well answers are remembered.
public struct MemoryStatistics: Equatable, Sendable {
    /// Reads answered from memory.
    public let hits: Int
    /// Reads that asked the database.
    public let misses: Int
    /// Octets of memory in use.
    public let bytes: Int
}
