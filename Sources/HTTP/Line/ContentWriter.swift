internal import Locking

/// Where a task writes a content piece by piece, and waits while the peer is behind (H185).
///
/// For long exports: memory is bounded by the server's `writeHigh` and one piece, whatever the
/// peer's pace. Made by ``Content/written(by:)``.
public final class ContentWriter: Sendable {
    /// The peer has gone, or the server has cut it off; nobody reads what is written.
    public struct Closed: Error {}

    private enum State {
        case open([CheckedContinuation<Void, any Error>])
        case closed
    }

    private let line: any Line
    private let state = Locked(State.open([]))

    init(_ line: any Line) { self.line = line }

    /// Sends octets, and comes back once there is room for more.
    ///
    /// - Throws: ``Closed``, when nobody reads any more.
    public func write(_ octets: [UInt8]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .open(let waiting) = state else { return false }
                state = .open(waiting + [continuation])
                return true
            }
            guard isOpen else { return continuation.resume(throwing: Closed()) }
            line.perform { [self] in
                line.send(octets)
                if !line.isFull { letGo() }
            }
        }
    }

    /// There is room.
    func letGo() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            guard case .open(let waiting) = state else { return [] }
            state = .open([])
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Nobody reads any more.
    func close() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            guard case .open(let waiting) = state else { return [] }
            state = .closed
            return waiting
        }
        for continuation in waiting { continuation.resume(throwing: Closed()) }
    }
}
