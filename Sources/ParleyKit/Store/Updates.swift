internal import SystemSupport

/// Values that arrive while they are read: states, changes, failures, signals.
///
/// Each call of `makeAsyncIterator()` gets what is published from then on. The sequence ends when the client is closed
/// or the task is cancelled.
public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
    private let source: Publisher<Element>

    init(_ source: Publisher<Element>) { self.source = source }

    /// Begins to receive.
    public func makeAsyncIterator() -> Iterator { Iterator(source.subscribe()) }

    /// Reads the values in turn.
    public struct Iterator: AsyncIteratorProtocol {
        private let mailbox: Mailbox<Element>

        init(_ mailbox: Mailbox<Element>) { self.mailbox = mailbox }

        /// The next value; `nil` at the end.
        public mutating func next() async -> Element? { await mailbox.next() }

        /// The next value; `nil` at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Never) -> Element? {
            await mailbox.next()
        }
    }
}

/// Passes values to all subscribers.
final class Publisher<Element: Sendable>: Sendable {
    private struct State {
        var mailboxes: [WeakMailbox] = []
        var isClosed = false
    }

    private struct WeakMailbox {
        weak var mailbox: Mailbox<Element>?
    }

    private let state = Locked(State())
    private let enqueue: @Sendable (inout [Element], Element) -> Void

    /// - Parameter enqueue: Adds a value to those that a subscriber has not read; it bounds their number.
    init(enqueue: @escaping @Sendable (inout [Element], Element) -> Void) {
        self.enqueue = enqueue
    }

    /// Keeps the newest value for a slow subscriber.
    static var newest: Publisher { Publisher { waiting, value in waiting = [value] } }

    /// Keeps all values, up to a number; then the oldest are dropped.
    static func all(atMost limit: Int) -> Publisher {
        Publisher { waiting, value in
            if waiting.count >= limit { waiting.removeFirst() }
            waiting.append(value)
        }
    }

    func subscribe() -> Mailbox<Element> {
        let mailbox = Mailbox(enqueue)
        let isClosed = state.withLock { state -> Bool in
            state.mailboxes.removeAll { $0.mailbox == nil }
            state.mailboxes.append(WeakMailbox(mailbox: mailbox))
            return state.isClosed
        }
        if isClosed { mailbox.close() }
        return mailbox
    }

    func publish(_ value: Element) {
        for mailbox in subscribers() { mailbox.add(value) }
    }

    /// Ends the sequences of all subscribers.
    func close() {
        state.withLock { state in state.isClosed = true }
        for mailbox in subscribers() { mailbox.close() }
    }

    private func subscribers() -> [Mailbox<Element>] {
        state.withLock { state in state.mailboxes.compactMap(\.mailbox) }
    }
}

/// What one subscriber has not read.
final class Mailbox<Element: Sendable>: Sendable {
    private let waiting = Locked<[Element]>([])
    private let enqueue: @Sendable (inout [Element], Element) -> Void
    private let arrivals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(_ enqueue: @escaping @Sendable (inout [Element], Element) -> Void) {
        self.enqueue = enqueue
        (arrivals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func add(_ value: Element) {
        waiting.withLock { waiting in enqueue(&waiting, value) }
        signal.yield()
    }

    func close() { signal.finish() }

    /// The next value; `nil` when the publisher is closed or the task is cancelled.
    func next() async -> Element? {
        var iterator = arrivals.makeAsyncIterator()
        while true {
            let value = waiting.withLock { waiting in
                waiting.isEmpty ? nil : waiting.removeFirst()
            }
            if let value { return value }
            guard await iterator.next(isolation: nil) != nil else { return nil }
        }
    }
}
