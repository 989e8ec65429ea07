import CLinux
import Glibc

/// Finds the connections whose time is up, without looking at the others (H179).
///
/// Time is cut into ticks of 100 ms and 1,024 slots. A connection stands in at most a few slots and
/// is asked for its true deadline only when a slot comes up: moving a deadline later costs nothing.
struct DeadlineWheel {
    /// A connection by its descriptor and its generation, so that a reused descriptor is not meant.
    struct Entry {
        let descriptor: Int32
        let generation: UInt32
    }

    static let tick: Int64 = 100
    private static let slotCount = 1024

    private var slots = [[Entry]](repeating: [], count: slotCount)
    private var turnedTo: Int64
    private var count = 0

    /// A wheel at a time in milliseconds.
    init(now: Int64) { turnedTo = now / Self.tick }

    /// Puts a connection into the slot of its deadline, or as far ahead as the wheel reaches.
    ///
    /// - Returns: When the slot comes up, in milliseconds.
    mutating func insert(_ entry: Entry, at deadline: Int64) -> Int64 {
        let exact = deadline / Self.tick + (deadline % Self.tick > 0 ? 1 : 0)
        let due = min(max(exact, turnedTo + 1), turnedTo + Int64(Self.slotCount) - 1)
        slots[Int(due % Int64(Self.slotCount))].append(entry)
        count += 1
        return due * Self.tick
    }

    /// Turns to `now` and returns what came up.
    mutating func turn(to now: Int64) -> [Entry] {
        let target = now / Self.tick
        guard target > turnedTo else { return [] }
        guard count > 0 else {
            turnedTo = target
            return []
        }
        var due: [Entry] = []
        // After a long sleep one round sees every slot.
        for step in (turnedTo + 1)...min(target, turnedTo + Int64(Self.slotCount)) {
            let slot = Int(step % Int64(Self.slotCount))
            due += slots[slot]
            slots[slot].removeAll(keepingCapacity: slots[slot].count < 64)
        }
        turnedTo = target
        count -= due.count
        return due
    }

    /// When the next occupied slot comes up, in milliseconds; `nil` for an empty wheel.
    var next: Int64? {
        guard count > 0 else { return nil }
        for step in (turnedTo + 1)...(turnedTo + Int64(Self.slotCount))
        where !slots[Int(step % Int64(Self.slotCount))].isEmpty {
            return step * Self.tick
        }
        return nil
    }
}

/// The clock of all deadlines: jumps of the wall clock do not move it (H180).
enum MonotonicClock {
    /// Nanoseconds since some point in the past.
    static var nanoseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The same in milliseconds.
    static var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
