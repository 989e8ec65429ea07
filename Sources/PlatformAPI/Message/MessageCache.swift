import Messaging
import MessagingStore
import MessagingWire
import SystemSupport

/// Messages as they were answered lately, for reads that need not wait for the database.
///
/// Whether one is still true the store tells at every use (`MessagingStore.holds`); nothing here
/// depends on time. Messages with contents are left out: their answers hold signed URLs, which are
/// secrets and expire.
final class MessageCache: Sendable {
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
        let basis: CacheValidity

        /// With what the tables take beside the bytes.
        fileprivate var weight: Int { json.count + 384 }
    }

    private struct State {
        var cache: BudgetedCache<Key, Kept>
        var hits = 0
        var misses = 0
    }

    private let state: Locked<State>

    /// - Parameter budget: Bytes of memory for all of them; 0 for none.
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
    var statistics: MessageCacheStatistics {
        state.withLock { state in
            MessageCacheStatistics(
                hits: state.hits, misses: state.misses, bytes: state.cache.weight)
        }
    }
}

/// How well answers are remembered.
public struct MessageCacheStatistics: Equatable, Sendable {
    /// Reads answered from memory.
    public let hits: Int
    /// Reads that asked the database.
    public let misses: Int
    /// Bytes of memory in use.
    public let bytes: Int
}

/// Values by key, as many as fit into a number of bytes.
///
/// Who was asked for since the hand last came by stays once more, the others go (CLOCK): one step of
/// the hand for each value that comes, whatever the size, and reading moves nothing.
struct BudgetedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        let key: Key
        let value: Value
        let weight: Int
        var wasUsed: Bool
    }

    private var slots: [Slot?] = []
    private var free: [Int] = []
    private var places: [Key: Int] = [:]
    private var hand = 0
    private let budget: Int
    /// What the values weigh together; never more than the budget.
    private(set) var weight = 0

    /// - Parameter budget: In bytes; 0 keeps nothing.
    init(budget: Int) { self.budget = budget }

    /// How many there are.
    var count: Int { places.count }

    /// The value of a key, which stays for longer by being asked for.
    mutating func value(of key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        slots[place]?.wasUsed = true
        return slots[place]?.value
    }

    /// Keeps a value instead of the one its key had; not one that would drive out many others.
    mutating func keep(_ value: Value, of key: Key, weighing weight: Int) {
        remove(key)
        guard weight <= budget / 16 else { return }
        while self.weight + weight > budget { evictOne() }
        let slot = Slot(key: key, value: value, weight: weight, wasUsed: false)
        if let place = free.popLast() {
            slots[place] = slot
            places[key] = place
        } else {
            slots.append(slot)
            places[key] = slots.count - 1
        }
        self.weight += weight
    }

    /// Lets go of a value.
    mutating func remove(_ key: Key) {
        guard let place = places[key] else { return }
        empty(place)
    }

    private mutating func evictOne() {
        while true {
            let place = hand
            hand = place + 1 < slots.count ? place + 1 : 0
            guard let slot = slots[place] else { continue }
            guard slot.wasUsed else { return empty(place) }
            slots[place]?.wasUsed = false
        }
    }

    private mutating func empty(_ place: Int) {
        guard let slot = slots[place] else { return }
        places[slot.key] = nil
        slots[place] = nil
        free.append(place)
        weight -= slot.weight
    }
}
