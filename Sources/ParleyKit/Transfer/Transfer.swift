internal import SystemSupport

/// The upload or download of the content of a part.
///
/// It goes on through reconnects, and after a restart as a new object with the same progress. Dropping the object cancels
/// nothing.
public final class Transfer: Sendable, Identifiable {
    /// Which way the bytes go.
    public enum Direction: Hashable, Sendable {
        /// To the server.
        case upload
        /// To this device.
        case download
    }

    /// The part.
    public let part: MessagePart.ID
    /// Which way the bytes go.
    public let direction: Direction
    private let state: Locked<State>
    private let publisher = Publisher<TransferProgress>.newest

    private struct State {
        var progress: TransferProgress
        var error: ParleyError?
        /// What was last published, and when.
        var published: (completed: Int64, at: ContinuousClock.Instant)
        var control: WeakControl
        var observers: [WeakAggregate] = []
    }

    private struct WeakControl {
        weak var control: (any TransferControl)?
    }

    private struct WeakAggregate {
        weak var aggregate: AggregateTransfer?
    }

    init(
        _ part: MessagePart.ID, _ direction: Direction, _ progress: TransferProgress,
        _ control: (any TransferControl)?
    ) {
        self.part = part
        self.direction = direction
        state = Locked(
            State(
                progress: progress, published: (progress.completed, .now),
                control: WeakControl(control: control)))
    }

    /// How far it is.
    public var progress: TransferProgress { state.withLock { state in state.progress } }

    /// How far it is from now on: one update in 100 ms or for 1 % of the bytes, and always the last one. The sequence ends
    /// with the transfer.
    public var updates: Updates<TransferProgress> { Updates(publisher) }

    /// Stops the transfer until ``resume()``, also over restarts.
    public func pause() {
        setPaused(true)
    }

    /// Goes on after ``pause()``.
    public func resume() {
        setPaused(false)
    }

    /// Cancels the transfer. The message of an upload has failed then, and can be sent again or discarded; what is here of
    /// a download is kept for a day.
    public func cancel() {
        guard finish(.cancelled) else { return }
        control?.cancel(self)
    }

    /// Waits until all bytes are transferred.
    ///
    /// - Throws: Why the transfer has failed; `cancelled`, also if the waiting task was.
    public func wait() async throws(ParleyError) {
        let mailbox = publisher.subscribe()
        while true {
            let (progress, error) = state.withLock { state in (state.progress, state.error) }
            if let error { throw error }
            if progress.isFinished { return }
            guard await mailbox.next() != nil else {
                throw Task.isCancelled ? .cancelled : .closed
            }
        }
    }

    // MARK: - From the client

    private var control: (any TransferControl)? {
        state.withLock { state in state.control.control }
    }

    /// Notes how many bytes were transferred.
    func report(_ completed: Int64) {
        let isDue = state.withLock { state -> Bool in
            guard !state.progress.isFinished else { return false }
            let completed = min(max(0, completed), state.progress.total)
            state.progress = state.progress.with(completed: completed)
            let step = completed - state.published.completed
            let now = ContinuousClock.now
            guard
                step < 0 || step >= state.progress.total / 100 && step > 0
                    || now - state.published.at >= .milliseconds(100) && step > 0
            else { return false }
            state.published = (completed, now)
            return true
        }
        if isDue { publish() }
    }

    /// Ends the transfer; does nothing if it has ended.
    ///
    /// - Parameter error: `nil` if all bytes were transferred.
    @discardableResult
    func finish(_ error: ParleyError?) -> Bool {
        let isFirst = state.withLock { state -> Bool in
            guard !state.progress.isFinished else { return false }
            state.error = error
            state.progress = TransferProgress(
                completed: error == nil ? state.progress.total : state.progress.completed,
                total: state.progress.total, isFinished: true,
                isCancelled: error?.code == .cancelled)
            return true
        }
        if isFirst {
            publish()
            publisher.close()
        }
        return isFirst
    }

    /// Ends the updates of a transfer that goes on after the store is opened again.
    func close() { publisher.close() }

    func addObserver(_ aggregate: AggregateTransfer) {
        state.withLock { state in
            state.observers.append(WeakAggregate(aggregate: aggregate))
        }
    }

    private func setPaused(_ isPaused: Bool) {
        let hasChanged = state.withLock { state -> Bool in
            guard !state.progress.isFinished, state.progress.isPaused != isPaused else {
                return false
            }
            state.progress = state.progress.with(isPaused: isPaused)
            return true
        }
        guard hasChanged else { return }
        publish()
        control?.setPaused(isPaused, self)
    }

    private func publish() {
        let (progress, observers) = state.withLock { state in
            (state.progress, state.observers.compactMap(\.aggregate))
        }
        publisher.publish(progress)
        for observer in observers { observer.memberHasChanged() }
    }
}

/// What runs transfers.
protocol TransferControl: AnyObject, Sendable {
    func setPaused(_ isPaused: Bool, _ transfer: Transfer)
    func cancel(_ transfer: Transfer)
}

extension TransferProgress {
    fileprivate func with(completed: Int64? = nil, isPaused: Bool? = nil) -> TransferProgress {
        TransferProgress(
            completed: completed ?? self.completed, total: total,
            isPaused: isPaused ?? self.isPaused, isFinished: isFinished, isCancelled: isCancelled)
    }
}
