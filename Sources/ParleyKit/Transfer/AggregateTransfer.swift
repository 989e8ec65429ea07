internal import SystemSupport

/// Several transfers with one progress, by their bytes.
public final class AggregateTransfer: Sendable {
    private let members: Locked<[Transfer]>
    private let publisher = Publisher<TransferProgress>.newest

    /// The transfers together.
    public init(_ transfers: [Transfer]) {
        members = Locked(transfers)
        for transfer in transfers { transfer.addObserver(self) }
    }

    /// Adds a transfer.
    public func add(_ transfer: Transfer) {
        members.withLock { members in members.append(transfer) }
        transfer.addObserver(self)
        memberHasChanged()
    }

    /// How far all of them are.
    public var progress: TransferProgress { .aggregate(transfers.map(\.progress)) }

    /// How far all of them are from now on. The sequence does not end, because transfers may be added.
    public var updates: Updates<TransferProgress> { Updates(publisher) }

    /// Pauses all that have not ended.
    public func pause() { for transfer in transfers { transfer.pause() } }

    /// Resumes all that have not ended.
    public func resume() { for transfer in transfers { transfer.resume() } }

    /// Cancels all that have not ended.
    public func cancel() { for transfer in transfers { transfer.cancel() } }

    /// Waits until all of them have transferred their bytes.
    ///
    /// - Throws: Why the first one has failed, after all have ended; `cancelled` if the waiting task was.
    public func wait() async throws(ParleyError) {
        var first: ParleyError?
        for transfer in transfers {
            do throws(ParleyError) {
                try await transfer.wait()
            } catch {
                if Task.isCancelled { throw .cancelled }
                first = first ?? error
            }
        }
        if let first { throw first }
    }

    private var transfers: [Transfer] { members.withLock { members in members } }

    func memberHasChanged() { publisher.publish(progress) }
}
