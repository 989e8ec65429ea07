/// A timer wheel: finds connections with passed deadlines without checking the others (H179).
///
/// It has 1,024 slots of 100 ms. A connection is in a few slots at most, and its actual deadline is read
/// only when a slot is due: moving a deadline later costs nothing.
struct DeadlineWheel {
    private static let tick: Int64 = 100
    private static let slotCount = 1024

    private var slots = [[ConnectionKey]](repeating: [], count: slotCount)
    private var turnedTo: Int64
    private var count = 0

    /// Creates a wheel at a time in milliseconds.
    init(now: Int64) { turnedTo = now / Self.tick }

    /// Puts a connection into the slot of its deadline, or into the last slot if that is later.
    ///
    /// - Returns: The time of the slot, in milliseconds.
    mutating func insert(_ connection: ConnectionKey, at deadline: Int64) -> Int64 {
        let exact = deadline / Self.tick + (deadline % Self.tick > 0 ? 1 : 0)
        let due = min(max(exact, turnedTo + 1), turnedTo + Int64(Self.slotCount) - 1)
        slots[Int(due % Int64(Self.slotCount))].append(connection)
        count += 1
        return due * Self.tick
    }

    /// Advances to `now` and returns the connections of the passed slots.
    mutating func turn(to now: Int64) -> [ConnectionKey] {
        let target = now / Self.tick
        guard target > turnedTo else { return [] }
        guard count > 0 else {
            turnedTo = target
            return []
        }
        var due: [ConnectionKey] = []
        // One round covers all slots, however long the loop has slept.
        for step in (turnedTo + 1)...min(target, turnedTo + Int64(Self.slotCount)) {
            let slot = Int(step % Int64(Self.slotCount))
            due += slots[slot]
            slots[slot].removeAll(keepingCapacity: slots[slot].count < 64)
        }
        turnedTo = target
        count -= due.count
        return due
    }

    /// The time of the next occupied slot in milliseconds; `nil` for an empty wheel.
    var next: Int64? {
        guard count > 0 else { return nil }
        for step in (turnedTo + 1)...(turnedTo + Int64(Self.slotCount))
        where !slots[Int(step % Int64(Self.slotCount))].isEmpty {
            return step * Self.tick
        }
        return nil
    }
}
