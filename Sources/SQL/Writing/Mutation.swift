/// A change that waits for the writer, with its caller.
struct Mutation: Sendable {
    /// Asks what the change is going to ask.
    let foresee: (@Sendable (Transaction) throws -> Void)?

    /// Makes the change and returns what tells the caller its result, once that is durable.
    let run: @Sendable (Transaction) throws -> @Sendable () -> Void

    /// Tells the caller that nothing of the change was kept.
    let fail: @Sendable (any Error) -> Void

    init<Value: Sendable>(
        _ change: @escaping @Sendable (Transaction) throws -> Value,
        foreseeing foresee: (@Sendable (Transaction) throws -> Void)?,
        answering continuation: CheckedContinuation<Value, any Error>
    ) {
        self.foresee = foresee
        run = { transaction in
            let value = try change(transaction)
            return { continuation.resume(returning: value) }
        }
        fail = { error in continuation.resume(throwing: error) }
    }
}
