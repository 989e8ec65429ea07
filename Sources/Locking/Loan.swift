/// A value that queues work on, and that comes back to whoever lent it.
///
/// It is moved there and back: nobody else holds it meanwhile, so a buffer in it is changed in place,
/// and copied neither there nor afterwards here.
package final class Loan<Value: Sendable>: Sendable {
    private enum Way {
        case away
        case awaited(CheckedContinuation<Void, Never>)
        case back
    }

    private let value: Locked<Value?>
    private let way = Locked(Way.away)

    init(_ value: Value) { self.value = Locked(value) }

    /// The value as the last queue left it; asked for once. Waits until it is back.
    package func back() async -> Value {
        await withCheckedContinuation { continuation in
            let isBack = way.withLock { way in
                if case .back = way { return true }
                way = .awaited(continuation)
                return false
            }
            if isBack { continuation.resume() }
        }
        guard let value = value.withLock({ value in value.take() }) else {
            preconditionFailure("a loan is taken back once")
        }
        return value
    }

    /// Lets a queue change the value.
    func work(_ work: (inout Value) -> Void) {
        guard var taken = value.withLock({ value in value.take() }) else { return }
        work(&taken)
        put(back: taken)
    }

    private func put(back taken: Value) { value.withLock { value in value = taken } }

    /// Tells whoever waits that nobody works on the value any more.
    func end() {
        let waiting: CheckedContinuation<Void, Never>? = way.withLock { way in
            defer { way = .back }
            if case .awaited(let waiting) = way { return waiting }
            return nil
        }
        waiting?.resume()
    }
}
