extension EventLoop {
    /// Something that waits for a time of its own: rare, so a plain list does.
    struct Delayed {
        /// Monotonic milliseconds.
        let time: Int64
        let work: () -> Void
    }

    /// Runs something on the loop later; called on the loop.
    ///
    /// By the loop's own timer and not by one of Dispatch, which opens a descriptor for its first one:
    /// a listener that waits because there are no descriptors would then wait for ever (H183).
    func after(_ milliseconds: Int64, _ work: @escaping () -> Void) {
        delayed.append(Delayed(time: MonotonicClock.milliseconds + milliseconds, work: work))
    }

    /// Runs what is due; it may ask for more.
    func runDelayed() {
        guard !delayed.isEmpty else { return }
        let due = delayed.filter { delayed in delayed.time <= now }
        guard !due.isEmpty else { return }
        delayed.removeAll { delayed in delayed.time <= now }
        for delayed in due { delayed.work() }
    }

    /// When the loop has to be awake next, in monotonic milliseconds; `nil` if nothing is awaited.
    var nextDeadline: Int64? {
        let first = delayed.lazy.map(\.time).min()
        guard let next = wheel.next else { return first }
        return first.map { first in min(first, next) } ?? next
    }
}
