extension WorkQueue {
    /// One piece of work on a lent value; it may wait for the disk and is never cancelled.
    package typealias Work<Value> = @Sendable (inout Value) -> Void

    /// Has work done on a value, after what was handed in before, and does not wait for it.
    ///
    /// - Parameter first: Work on another queue before that; loans of the same two queues stay in
    ///   order.
    package func lend<Value: Sendable>(
        _ value: Value, first: (queue: WorkQueue, work: Work<Value>)? = nil,
        to work: @escaping Work<Value>
    ) -> Loan<Value> {
        let loan = Loan(value)
        let last: @Sendable () -> Void = {
            loan.work(work)
            loan.end()
        }
        guard let first else {
            enqueue(last)
            return loan
        }
        first.queue.enqueue { [first, self] in
            loan.work(first.work)
            enqueue(last)
        }
        return loan
    }
}
