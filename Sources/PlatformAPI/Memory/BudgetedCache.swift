/// Values by key, as many as fit into a number of octets.
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

    /// - Parameter budget: In octets; 0 keeps nothing.
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
