import HTTP

/// Where the connections of one listener wait for their PROXY headers (H202).
///
/// All may wait equally long, so the first to come is the first to be overdue, and one timer does.
final class ProxyEntrance: @unchecked Sendable {
    // Sendable because it is only used on its loop.
    private let loop: EventLoop
    private var greetings: [ProxyGreeting] = []
    private var isTimed = false

    init(_ loop: EventLoop) { self.loop = loop }

    func add(_ greeting: ProxyGreeting) {
        greetings.append(greeting)
        greeting.open()
        watchTime()
    }

    /// What has come already is looked at once more, then nobody waits any longer (H194).
    func close() {
        for greeting in greetings {
            greeting.ready()
            greeting.drop()
        }
        greetings = []
    }

    private func watchTime() {
        guard !isTimed, let first = greetings.first else { return }
        isTimed = true
        loop.after(max(first.deadline - loop.now, 1)) { [self] in
            isTimed = false
            sweep()
        }
    }

    private func sweep() {
        let count = greetings.prefix { greeting in
            if greeting.deadline <= loop.now { greeting.drop() }
            return greeting.isOver
        }.count
        greetings.removeFirst(count)
        watchTime()
    }
}
