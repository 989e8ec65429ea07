internal import SystemSupport

extension Content {
    /// Content that a task writes; it ends when `write` returns.
    ///
    /// When `write` throws, the connection is aborted, so that the peer detects that content is
    /// missing (H88); the error itself is dropped. When the peer closes the connection, the task is
    /// cancelled (H85). A stopping server waits for the task until its deadline (H194).
    ///
    /// - Parameters:
    ///   - length: The number of bytes that will be written, if known; writing another number
    ///     aborts the connection.
    ///   - write: Runs on Swift's cooperative pool and must not block it.
    public static func written(
        length: Int64? = nil, by write: @escaping @Sendable (ContentWriter) async throws -> Void
    ) -> Content {
        .stream(WrittenContent(write), length: length)
    }
}

/// Connects a writing task with its channel.
private final class WrittenContent: ByteChannelHandler, @unchecked Sendable {
    // Sendable because `writer` and `task` are used only on the channel's loop.
    private let write: @Sendable (ContentWriter) async throws -> Void
    private var writer: ContentWriter?
    private var task: Task<Void, Never>?

    init(_ write: @escaping @Sendable (ContentWriter) async throws -> Void) { self.write = write }

    func opened(_ channel: any ByteChannel) {
        let writer = ContentWriter(channel)
        self.writer = writer
        task = Task { [write] in
            do {
                try await write(writer)
                channel.perform { channel.finish() }
            } catch {
                channel.perform { channel.abort() }
            }
        }
    }

    func drained() { writer?.resumeWrites() }

    /// Does nothing: started content is written to its end.
    func stopping() {}

    func closed() {
        writer?.close()
        task?.cancel()
        writer = nil
        task = nil
    }
}

/// Writes content in pieces and waits while the peer is slow (H185).
///
/// For long exports: memory is bounded by the server's `writeHigh` and one piece. Made by
/// ``Content/written(length:by:)``.
public final class ContentWriter: Sendable {
    /// The peer closed the connection, or the server did.
    public struct Closed: Error {}

    private enum State {
        case open([CheckedContinuation<Void, any Error>])
        case closed
    }

    private let channel: any ByteChannel
    private let state = Locked(State.open([]))

    init(_ channel: any ByteChannel) { self.channel = channel }

    /// Sends bytes and returns once the channel can take more.
    ///
    /// - Throws: ``Closed`` when the channel is closed.
    public func write(_ bytes: [UInt8]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .open(let waiting) = state else { return false }
                state = .open(waiting + [continuation])
                return true
            }
            guard isOpen else { return continuation.resume(throwing: Closed()) }
            channel.perform { [self] in
                channel.send(bytes)
                if !channel.isFull { resumeWrites() }
            }
        }
    }

    /// Resumes the waiting writes, because the channel can take more.
    func resumeWrites() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            guard case .open(let waiting) = state else { return [] }
            state = .open([])
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Fails all waiting and later writes.
    func close() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            guard case .open(let waiting) = state else { return [] }
            state = .closed
            return waiting
        }
        for continuation in waiting { continuation.resume(throwing: Closed()) }
    }
}
