internal import SystemSupport

/// Whether uploads go on while the application is suspended or has ended (K41).
public enum BackgroundTransfers: Hashable, Sendable {
    /// Uploads end with the process, and go on in its next run.
    case off
    /// The system goes on with uploads, in a background session with this identifier; each client needs its own. This is so
    /// on Apple platforms, and as `off` elsewhere.
    case on(identifier: String)

    /// The identifier; `nil` without one.
    var identifier: String? { if case .on(let identifier) = self { identifier } else { nil } }
}

/// Sends the bytes of uploads while this process may be suspended or ended.
protocol BackgroundUploader: Sendable {
    /// Sends a request whose body is a file, and waits for its answer. Cancelling the task ends the waiting, not the request.
    func put(
        _ request: TransportRequest, of part: MessagePart.ID
    ) async throws(ParleyError) -> TransportResponse
    /// Waits until the system has ended the request for a part, if it still sends one of an earlier attempt or process. A
    /// question for the offset could end it.
    func settle(_ part: MessagePart.ID) async throws(ParleyError)
    /// Ends the request for a part, if there is one.
    func cancel(_ part: MessagePart.ID)
}

/// The request that the system sends for a part, in the description of its task: the only thing that is known of it in the
/// next run.
struct BackgroundTaskName: Hashable, Sendable {
    private static let prefix = "parley-upload "

    let part: MessagePart.ID

    init(_ part: MessagePart.ID) { self.part = part }

    /// Reads a description; `nil` for one of another origin.
    init?(_ text: String?) {
        guard let text, text.hasPrefix(Self.prefix),
            let part = MessagePart.ID(String(text.dropFirst(Self.prefix.count)))
        else { return nil }
        self.part = part
    }

    /// The description.
    var text: String { "\(Self.prefix)\(part)" }
}

/// The requests that the system sends for the uploads of a client, those of earlier processes included, and who waits for
/// their answers.
///
/// An answer that no upload waits for is dropped: the upload asks the server how far it is when it goes on.
final class BackgroundRequests: Sendable {
    typealias Answer = Result<TransportResponse, ParleyError>

    private struct State {
        var running: Set<MessagePart.ID> = []
        var waiting: [MessagePart.ID: [CheckedContinuation<Answer, Never>]] = [:]
    }

    private let state = Locked(State())

    /// Records that the system sends a request of an earlier process.
    func found(_ part: MessagePart.ID) {
        state.withLock { state in _ = state.running.insert(part) }
    }

    /// Ends a request.
    func finish(_ part: MessagePart.ID, _ answer: Answer) {
        resume(part, answer) { state in state.running.remove(part) }
    }

    /// Begins the request for a part, unless the system sends one already, and waits for its answer.
    ///
    /// - Parameter begin: Begins it.
    func answer(
        of part: MessagePart.ID, beginning begin: () throws(ParleyError) -> Void
    ) async throws(ParleyError) -> TransportResponse {
        try await wait(for: part) { state in
            state.running.insert(part).inserted ? .begin : .wait
        } beginning: { () throws(ParleyError) in
            try begin()
        }.get()
    }

    /// Waits until the request for a part has ended, if there is one.
    func settle(_ part: MessagePart.ID) async throws(ParleyError) {
        _ = await wait(for: part) { state in
            state.running.contains(part) ? .wait : .end
        } beginning: {
        }
        if Task.isCancelled { throw .cancelled }
    }

    private enum Step { case begin, wait, end }

    private func wait(
        for part: MessagePart.ID, _ decide: (inout State) -> Step,
        beginning begin: () throws(ParleyError) -> Void
    ) async -> Answer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let step = state.withLock { state -> Step in
                    let step = Task.isCancelled ? .end : decide(&state)
                    if step != .end { state.waiting[part, default: []].append(continuation) }
                    return step
                }
                switch step {
                case .wait: break
                case .end: continuation.resume(returning: .failure(.cancelled))
                case .begin:
                    do throws(ParleyError) {
                        try begin()
                    } catch {
                        finish(part, .failure(error))
                    }
                }
            }
        } onCancel: {
            resume(part, .failure(.cancelled)) { _ in }
        }
    }

    private func resume(
        _ part: MessagePart.ID, _ answer: Answer, _ change: (inout State) -> Void
    ) {
        let waiting = state.withLock { state in
            change(&state)
            return state.waiting.removeValue(forKey: part) ?? []
        }
        for continuation in waiting { continuation.resume(returning: answer) }
    }
}

extension ParleyClient {
    /// Lets what the system has uploaded in the background have its consequences: messages whose parts are complete are sent.
    /// Call it from `application(_:handleEventsForBackgroundURLSession:completionHandler:)`, and the completion handler
    /// afterwards.
    ///
    /// - Returns: What has changed on this device meanwhile; `nil` if the identifier is not that of this client's
    ///   configuration.
    public func handleBackgroundEvents(
        _ identifier: String, within limit: Duration = .seconds(20)
    ) async throws(ParleyError) -> [ObjectChange]? {
        guard configuration.backgroundTransfers.identifier == identifier else { return nil }
        let wasIdle = connection == .idle
        let commits = store.commits.subscribe()
        connect()
        let timer = Task {
            try await Task.sleep(for: limit.forSleeping)
            commits.close()
        }
        defer { timer.cancel() }
        var changes: [ObjectChange] = []
        while try await hasWork(), let commit = await commits.next() { changes += commit.changes }
        if wasIdle { await disconnect() }
        return changes
    }

    /// Whether messages wait to be sent or uploaded, of those that can be.
    private func hasWork() async throws(ParleyError) -> Bool {
        try await store.read { sql in
            let transaction = StoreTransaction(sql)
            return try transaction.nextRows().contains { row in row.kind == .send }
                || !transaction.uploads(limit: 1).isEmpty
        }
    }
}
