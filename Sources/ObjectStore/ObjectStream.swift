internal import HTTP
internal import HTTPClient
internal import SystemSupport

/// The bytes of an object or of a range of it, read at the caller's pace.
///
/// After a broken connection the rest is requested again, from the same version of the object.
/// Releasing the stream ends the request.
public final class ObjectStream: Sendable {
    /// The size of the whole object in bytes.
    public let size: Int64
    /// The bytes that are read.
    public let range: Range<Int64>
    /// The object's `ETag`, with its quotes.
    public let tag: String
    /// The object's media type.
    public let type: String?

    private struct State {
        var source: ClientResponseStream
        var position: Int64
        /// Requests for the rest since the last received byte.
        var attempts = 0
        /// Set by `cancel()`, also while no source is open.
        var isCancelled = false
    }

    private let store: ObjectStore
    private let key: ObjectKey
    private let state: Locked<State>

    init(
        _ store: ObjectStore, _ key: ObjectKey, _ source: ClientResponseStream,
        _ response: RangeResponse
    ) {
        self.store = store
        self.key = key
        size = response.size
        range = response.range
        tag = response.tag
        type = response.type
        state = Locked(State(source: source, position: response.range.lowerBound))
    }

    /// The next bytes, at least one; `nil` at the end. For one caller at a time.
    ///
    /// - Throws: `preconditionFailed` if the object has changed.
    public func next() async throws(ObjectStoreError) -> [UInt8]? {
        while true {
            let (source, position) = state.withLock { ($0.source, $0.position) }
            let fault: AttemptFailure
            do throws(AttemptFailure) {
                return try await piece(of: source, at: position)
            } catch {
                fault = error
            }
            // After the last byte a failure no longer matters.
            guard position < range.upperBound else { return nil }
            try await resume(after: fault)
        }
    }

    /// Ends the stream early.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            return state.source
        }
        .cancel()
    }

    private func piece(
        of source: ClientResponseStream, at position: Int64
    ) async throws(AttemptFailure) -> [UInt8]? {
        let piece: [UInt8]?
        do throws(HTTPClientError) {
            piece = try await source.next()
        } catch {
            throw AttemptFailure(error, in: "get object")
        }
        let rest = range.upperBound - position
        guard let piece else {
            guard rest == 0 else { throw AttemptFailure(endingBefore: rest, in: "get object") }
            return nil
        }
        guard piece.count <= rest else {
            source.cancel()
            throw AttemptFailure(lacking: "end", status: source.status, in: "get object")
        }
        state.withLock { state in
            state.position += Int64(piece.count)
            state.attempts = 0
        }
        return piece
    }

    private func resume(after fault: AttemptFailure) async throws(ObjectStoreError) {
        let (attempts, position) = state.withLock { state in
            state.attempts += 1
            return (state.attempts, state.position)
        }
        guard fault.isRetryable, attempts < store.settings.attempts else { throw fault.error }
        try await store.wait(after: attempts, in: "get object")
        try requireNotCancelled()
        let (source, _) = try await store.open(
            key, range: position..<range.upperBound, tag: tag)
        state.withLock { $0.source = source }
        do throws(ObjectStoreError) {
            try requireNotCancelled()
        } catch {
            source.cancel()
            throw error
        }
    }

    /// - Throws: `cancelled` after `cancel()`.
    private func requireNotCancelled() throws(ObjectStoreError) {
        guard !state.withLock({ $0.isCancelled }) else {
            throw ObjectStoreError(.cancelled, "get object", words: "the download was cancelled")
        }
    }
}

/// The range and version of an object in a response to GET.
struct RangeResponse: Sendable, Equatable {
    /// The size of the whole object in bytes.
    let size: Int64
    /// The bytes in the response.
    let range: Range<Int64>
    let tag: String
    let type: String?

    /// `nil` if the response does not match the request: a store that ignores ranges would send
    /// other bytes.
    init?(status: Int, _ fields: Fields, requested: Range<Int64>?) {
        guard let tag = fields["ETag"] else { return nil }
        self.tag = tag
        type = fields["Content-Type"]
        guard let requested else {
            guard status == 200,
                let count = fields["Content-Length"].flatMap({ Int64(decimal: $0.utf8) })
            else { return nil }
            size = count
            range = 0..<count
            return
        }
        // bytes 0-9/100
        guard status == 206, let text = fields["Content-Range"], text.hasPrefix("bytes ") else {
            return nil
        }
        let numbers = text.dropFirst(6).split(omittingEmptySubsequences: false) {
            "-/".contains($0)
        }
        .map { Int64(decimal: $0.utf8) }
        guard numbers.count == 3, let first = numbers[0], let last = numbers[1],
            let size = numbers[2], first == requested.lowerBound, last < size,
            last == min(requested.upperBound, size) - 1, last >= first
        else { return nil }
        self.size = size
        range = first..<(last + 1)
    }
}
