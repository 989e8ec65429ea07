/// Those who wait for something, in order of coming; a number lets one give up.
struct WaitingList {
    private var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    private var next = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// A number for someone about to wait.
    mutating func number() -> Int {
        next += 1
        return next
    }

    mutating func add(_ number: Int, _ continuation: CheckedContinuation<Bool, Never>) {
        waiting.append((number, continuation))
    }

    /// Lets the first go on; `false` when nobody waits.
    mutating func wakeFirst() -> Bool {
        guard !waiting.isEmpty else { return false }
        waiting.removeFirst().continuation.resume(returning: true)
        return true
    }

    mutating func wakeAll() {
        for waiter in waiting { waiter.continuation.resume(returning: true) }
        waiting = []
    }

    /// Lets one go on without what it waited for; nothing happens when it already went.
    mutating func cancel(_ number: Int) {
        guard let place = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: place).continuation.resume(returning: false)
    }
}
