internal import SystemSupport

extension Content {
    /// A content that a task writes: it ends when `write` returns.
    ///
    /// When `write` throws, the connection is broken, so that the peer notices that something is
    /// missing (H88); whoever wants to know why catches the error in there. When the peer leaves, the
    /// task is cancelled (H85). A stopping server waits for it until its deadline (H194).
    ///
    /// - Parameters:
    ///   - length: How many bytes it will write, where that is known; another number breaks the
    ///     connection.
    ///   - write: Runs on Swift's pool and must not block it.
    public static func written(
        length: Int64? = nil, by write: @escaping @Sendable (ContentWriter) async throws -> Void
    ) -> Content {
        .stream(WrittenContent(write), length: length)
    }
}

/// Keeps a task and the line it writes to together.
private final class WrittenContent: ByteChannelHandler, @unchecked Sendable {
    // Sendable because `writer` and `task` are only used on the line's loop.
    private let write: @Sendable (ContentWriter) async throws -> Void
    private var writer: ContentWriter?
    private var task: Task<Void, Never>?

    init(_ write: @escaping @Sendable (ContentWriter) async throws -> Void) { self.write = write }

    func opened(_ line: any ByteChannel) {
        let writer = ContentWriter(line)
        self.writer = writer
        task = Task { [write] in
            do {
                try await write(writer)
                line.perform { line.finish() }
            } catch {
                line.perform { line.abort() }
            }
        }
    }

    func drained() { writer?.letGo() }

    /// What has begun is finished.
    func stopping() {}

    func closed() {
        writer?.close()
        task?.cancel()
        writer = nil
        task = nil
    }
}

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

    private let line: any ByteChannel
    private let state = Locked(State.open([]))

    init(_ line: any ByteChannel) { self.line = line }

    /// Sends bytes, and comes back once there is room for more.
    ///
    /// - Throws: ``Closed``, when nobody reads any more.
    public func write(_ bytes: [UInt8]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .open(let waiting) = state else { return false }
                state = .open(waiting + [continuation])
                return true
            }
            guard isOpen else { return continuation.resume(throwing: Closed()) }
            line.perform { [self] in
                line.send(bytes)
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
