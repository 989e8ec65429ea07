/// Continuations in order of arrival; each has a number by which it can be cancelled.
struct WaitingList {
    private var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    private var next = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// A new number for a continuation.
    mutating func number() -> Int {
        next += 1
        return next
    }

    mutating func add(_ number: Int, _ continuation: CheckedContinuation<Bool, Never>) {
        waiting.append((number, continuation))
    }

    /// Resumes the first one with `true`; returns `false` when none waits.
    mutating func wakeFirst() -> Bool {
        guard !waiting.isEmpty else { return false }
        waiting.removeFirst().continuation.resume(returning: true)
        return true
    }

    mutating func wakeAll() {
        for waiter in waiting { waiter.continuation.resume(returning: true) }
        waiting = []
    }

    /// Resumes the continuation of that number with `false`; does nothing when it was resumed already.
    mutating func cancel(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }
}
