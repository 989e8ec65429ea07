import Messaging
import MessagingStore
import MessagingWire
import SystemSupport

/// Caches the JSON of messages: a read of a cached message needs no database query, and a list reads only the ids of
/// its cached messages.
///
/// At each use the store checks whether the message is still valid (`MessagingStore.holds`, `CacheMoment`); nothing
/// here depends on time. Messages with contents are not cached: their answers hold signed URLs, which are secrets and
/// expire. Safe to use from any thread.
final class MessageCache: Sendable {
    /// What determines the JSON of a message besides the message itself.
    struct Form: Hashable, Sendable {
        let application: Application.ID
        /// `nil` for the system.
        let viewer: UserID?
        let version: APIVersion
        /// The base of the URLs in the answer; `nil` for the configured one.
        let base: String?
        /// Whether the URLs are those of the Client API.
        let omitsApplication: Bool
        /// The hash of the members, which each look-up of a list needs.
        private let digest: Int

        init(
            application: Application.ID, viewer: UserID?, version: APIVersion, base: String?,
            omitsApplication: Bool
        ) {
            self.application = application
            self.viewer = viewer
            self.version = version
            self.base = base
            self.omitsApplication = omitsApplication
            var hasher = Hasher()
            hasher.combine(application)
            hasher.combine(viewer)
            hasher.combine(version)
            hasher.combine(base)
            hasher.combine(omitsApplication)
            digest = hasher.finalize()
        }

        func hash(into hasher: inout Hasher) { hasher.combine(digest) }
    }

    fileprivate struct Key: Hashable, Sendable {
        let message: Message.ID
        let form: Form
    }

    /// The JSON of a message, with the values that validate and send it.
    struct CachedMessage: Sendable {
        let conversation: Conversation.ID
        /// The message's version.
        let version: Int64
        let json: [UInt8]
        let validity: CacheValidity

        /// The size in bytes, with the approximate overhead of the tables.
        fileprivate var weight: Int { json.count + 384 }
    }

    private struct State {
        var cache: BudgetedCache<Key, CachedMessage>
        var hits = 0
        var misses = 0
        var listedHits = 0
        var listedMisses = 0
    }

    private let state: Locked<State>

    /// - Parameter budget: The size in bytes; 0 turns the cache off.
    init(budget: Int) { state = Locked(State(cache: BudgetedCache(budget: budget))) }

    /// Returns a cached message that is still valid.
    func valid(_ message: Message.ID, as form: Form, in store: MessagingStore) -> CachedMessage? {
        let key = Key(message: message, form: form)
        return state.withLock { state in
            // With a shared database only lists use the cache: their query finds changes of other processes.
            guard !store.isShared, let cached = state.cache.value(of: key) else {
                state.misses += 1
                return nil
            }
            guard store.holds(cached.validity) else {
                state.cache.remove(key)
                state.misses += 1
                return nil
            }
            state.hits += 1
            return cached
        }
    }

    /// Returns the JSON of each message of a list; `nil` for those that are not cached, or not valid at that moment.
    func valid(_ messages: [Message.ID], as form: Form, at moment: CacheMoment) -> [[UInt8]?] {
        state.withLock { state in
            let found = messages.map { message in
                state.cache.value(of: Key(message: message, form: form))
            }
            var areValid = moment.areValid(found.compactMap { cached in cached?.validity })[...]
            let valid = found.map { cached in
                cached.flatMap { cached in areValid.removeFirst() ? cached.json : nil }
            }
            let hits = valid.count { json in json != nil }
            state.listedHits += hits
            state.listedMisses += valid.count - hits
            return valid
        }
    }

    /// Caches messages in one form.
    func store(_ messages: [(id: Message.ID, cached: CachedMessage)], as form: Form) {
        state.withLock { state in
            for (id, cached) in messages {
                state.cache.store(
                    cached, under: Key(message: id, form: form), weight: cached.weight)
            }
        }
    }

    var statistics: MessageCacheStatistics {
        state.withLock { state in
            MessageCacheStatistics(
                hits: state.hits, misses: state.misses, listedHits: state.listedHits,
                listedMisses: state.listedMisses, bytes: state.cache.weight)
        }
    }
}

/// Hits, misses and size of a ``MessageCache``.
public struct MessageCacheStatistics: Equatable, Sendable {
    /// Reads of single messages answered from the cache.
    public let hits: Int
    /// Reads of single messages that needed the database.
    public let misses: Int
    /// Messages of lists taken from the cache.
    public let listedHits: Int
    /// Messages of lists read from the database.
    public let listedMisses: Int
    /// Bytes in use.
    public let bytes: Int
}

/// A cache of values by key, with a limit in bytes.
///
/// It evicts by the CLOCK algorithm: the hand skips values that were read since it last passed them, and evicts the
/// next other one. A read only sets a flag.
struct BudgetedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        let key: Key
        let value: Value
        let weight: Int
        var wasUsed: Bool
    }

    private var slots: [Slot?] = []
    private var free: [Int] = []
    private var indices: [Key: Int] = [:]
    private var hand = 0
    private let budget: Int
    /// The weight of all values in bytes; never more than the budget.
    private(set) var weight = 0

    /// - Parameter budget: In bytes; 0 stores nothing.
    init(budget: Int) { self.budget = budget }

    /// The number of values.
    var count: Int { indices.count }

    /// Returns the value of a key, and marks it as used.
    mutating func value(of key: Key) -> Value? {
        guard let index = indices[key] else { return nil }
        slots[index]?.wasUsed = true
        return slots[index]?.value
    }

    /// Stores a value under a key, unless it weighs more than a sixteenth of the budget.
    mutating func store(_ value: Value, under key: Key, weight: Int) {
        remove(key)
        guard weight <= budget / 16 else { return }
        while self.weight + weight > budget { evictOne() }
        let slot = Slot(key: key, value: value, weight: weight, wasUsed: false)
        if let index = free.popLast() {
            slots[index] = slot
            indices[key] = index
        } else {
            slots.append(slot)
            indices[key] = slots.count - 1
        }
        self.weight += weight
    }

    /// Removes the value of a key.
    mutating func remove(_ key: Key) {
        guard let index = indices[key] else { return }
        empty(index)
    }

    private mutating func evictOne() {
        while true {
            let index = hand
            hand = index + 1 < slots.count ? index + 1 : 0
            guard let slot = slots[index] else { continue }
            guard slot.wasUsed else { return empty(index) }
            slots[index]?.wasUsed = false
        }
    }

    private mutating func empty(_ index: Int) {
        guard let slot = slots[index] else { return }
        indices[slot.key] = nil
        slots[index] = nil
        free.append(index)
        weight -= slot.weight
    }
}
