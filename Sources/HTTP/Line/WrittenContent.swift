extension Content {
    /// A content that a task writes: it ends when `write` returns.
    ///
    /// When `write` throws, the connection is broken, so that the peer notices that something is
    /// missing (H88); whoever wants to know why catches the error in there. When the peer leaves, the
    /// task is cancelled (H85). A stopping server waits for it until its deadline (H194).
    ///
    /// - Parameters:
    ///   - length: How many octets it will write, where that is known; another number breaks the
    ///     connection.
    ///   - write: Runs on Swift's pool and must not block it.
    public static func written(
        length: Int64? = nil, by write: @escaping @Sendable (ContentWriter) async throws -> Void
    ) -> Content {
        .stream(WrittenContent(write), length: length)
    }
}

/// Keeps a task and the line it writes to together.
private final class WrittenContent: LineHandler, @unchecked Sendable {
    // Sendable because `writer` and `task` are only used on the line's loop.
    private let write: @Sendable (ContentWriter) async throws -> Void
    private var writer: ContentWriter?
    private var task: Task<Void, Never>?

    init(_ write: @escaping @Sendable (ContentWriter) async throws -> Void) { self.write = write }

    func opened(_ line: any Line) {
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
