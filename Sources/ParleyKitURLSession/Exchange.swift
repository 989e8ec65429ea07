internal import Foundation
internal import HTTP
internal import ParleyKit
internal import SystemSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A task of a session, and what it has received that was not read yet.
final class Exchange: Sendable {
    private struct State {
        var head: (status: Int, headers: Fields)?
        var bytes = ReceivedBytes()
        var hasEnded = false
        var error: ParleyError?
        var timer: Task<Void, any Error>?
    }

    /// Called with the number of bytes of the body that were sent.
    let onSent: (@Sendable (Int64) -> Void)?
    private let task: URLSessionTask
    /// The file of the body, which lives as long as the task.
    private let file: RequestBodyFile?
    private let state = Locked(State())
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init(
        _ task: URLSessionTask, _ file: RequestBodyFile?, onSent: (@Sendable (Int64) -> Void)?
    ) {
        self.task = task
        self.file = file
        self.onSent = onSent
        (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The number of the task in its session.
    var number: Int { task.taskIdentifier }

    /// Sends the request.
    ///
    /// - Parameter isStream: Whether it may take as long as it wants.
    func start(isStream: Bool) {
        task.resume()
        guard !isStream else { return }
        let timer = Task { [weak self] in
            try await Task.sleep(for: .seconds(TransportRequest.totalSeconds))
            self?.end(URLError(.timedOut))
            self?.cancel()
        }
        state.withLock { state in state.timer = timer }
    }

    func cancel() { task.cancel() }

    // MARK: - What the session receives

    func receive(_ response: HTTPURLResponse) {
        let headers = response.allHeaderFields.compactMap { name, value -> (String, String)? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        state.withLock { state in
            state.head = (
                response.statusCode,
                Fields(headers.map { header in (name: header.0, value: header.1) })
            )
        }
        arrival.yield()
    }

    func receive(_ bytes: Data) {
        let failure = state.withLock { state -> (any Error)? in
            guard !state.hasEnded else { return nil }
            do {
                try state.bytes.append(bytes)
                return nil
            } catch {
                return error
            }
        }
        guard let failure else {
            arrival.yield()
            return
        }
        end(ParleyError.unstored(failure))
        cancel()
    }

    /// Whether the whole answer, or an error, has arrived.
    var hasEnded: Bool { state.withLock { state in state.hasEnded } }

    /// How many bytes wait in memory.
    var bytesInMemory: Int { state.withLock { state in state.bytes.memory.count } }

    /// The task has ended.
    func end(_ error: (any Error)?) {
        let timer = state.withLock { state in
            if !state.hasEnded {
                state.hasEnded = true
                state.error = error.map { error in
                    error as? ParleyError ?? ParleyError(sessionError: error)
                }
            }
            return state.timer
        }
        timer?.cancel()
        arrival.finish()
    }

    // MARK: - What is read

    /// Waits for the head of the answer.
    func stream() async throws(ParleyError) -> any TransportStream {
        var iterator = arrivals.makeAsyncIterator()
        while true {
            let (head, end) = state.withLock { state in
                (state.head, state.hasEnded ? state.error ?? .broken : nil)
            }
            if let head {
                return Answer(exchange: self, status: head.status, headers: head.headers)
            }
            if let end { throw end }
            await wait(&iterator)
            if Task.isCancelled {
                cancel()
                throw .cancelled
            }
        }
    }

    private func wait(_ iterator: inout AsyncStream<Void>.Iterator) async {
        _ = await iterator.next(isolation: nil)
    }

    private func next() async throws(ParleyError) -> [UInt8]? {
        var iterator = arrivals.makeAsyncIterator()
        while true {
            let (read, hasEnded, error) = state.withLock { state in
                (Result { try state.bytes.next() }, state.hasEnded, state.error)
            }
            switch read {
            case .success(let bytes) where bytes.isEmpty: break
            case .success(let bytes): return bytes
            case .failure(let error): throw .unstored(error)
            }
            if hasEnded {
                if let error { throw error }
                return nil
            }
            await wait(&iterator)
            if Task.isCancelled {
                cancel()
                throw .cancelled
            }
        }
    }

    private struct Answer: TransportStream {
        let exchange: Exchange
        let status: Int
        let headers: Fields

        func next() async throws(ParleyError) -> [UInt8]? { try await exchange.next() }

        func cancel() { exchange.cancel() }
    }
}

extension ParleyError {
    fileprivate static let broken = ParleyError(
        .network, "The server's answer is not HTTP.", isTransient: true)

    /// Bytes that wait to be read could not be written into a file, or read from there.
    fileprivate static func unstored(_ error: any Error) -> ParleyError {
        (error as? CocoaError)?.code == .fileWriteOutOfSpace
            ? ParleyError(.diskFull, "The disk is full.", isTransient: true)
            : ParleyError(
                .storeUnavailable, "Bytes of an answer cannot be stored: \(error).",
                isTransient: true)
    }

    private static func insecure(_ error: any Error) -> ParleyError {
        ParleyError(
            .insecure, "The server cannot be trusted: \(error.localizedDescription).",
            isTransient: true)
    }

    /// The error of a task.
    fileprivate init(sessionError error: any Error) {
        switch (error as? URLError)?.code {
        case .cancelled: self = .cancelled
        case .timedOut:
            self.init(.timedOut, "The server did not answer in time.", isTransient: true)
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
            .clientCertificateRejected, .clientCertificateRequired,
            .appTransportSecurityRequiresSecureConnection:
            self = .insecure(error)
        // On Linux TLS has no codes of its own, only the texts of libcurl, which all name SSL.
        case .unknown where error.localizedDescription.contains("SSL"): self = .insecure(error)
        case .badURL, .unsupportedURL: self.init(.network, "The server's URL is invalid.")
        default:
            self.init(
                .network, "The server cannot be reached: \(error.localizedDescription).",
                isTransient: true)
        }
    }
}
