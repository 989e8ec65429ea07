internal import HTTP
internal import HTTPClient
internal import SystemSupport

/// The bytes of an object, or of a range of it, as fast as they are taken.
///
/// A connection that breaks is made up for: the rest is asked for again, of the same state of the object.
/// A stream that is let go ends its request.
public final class ObjectStream: Sendable {
    /// Of the whole object, in bytes.
    public let size: Int64
    /// Which bytes come.
    public let range: Range<Int64>
    /// The object's `ETag`, with its quotes.
    public let tag: String
    /// The object's media type.
    public let type: String?

    private struct Course {
        var source: ClientResponseStream
        var position: Int64
        /// How often the rest was asked for since the last byte.
        var attempts = 0
        /// Also while no source is open that could be cancelled.
        var isCancelled = false
    }

    private let store: ObjectStore
    private let key: ObjectKey
    private let course: Locked<Course>

    init(
        _ store: ObjectStore, _ key: ObjectKey, _ source: ClientResponseStream,
        _ stretch: RangeResponse
    ) {
        self.store = store
        self.key = key
        size = stretch.size
        range = stretch.range
        tag = stretch.tag
        type = stretch.type
        course = Locked(Course(source: source, position: stretch.range.lowerBound))
    }

    /// The next bytes, at least one; `nil` at the end of the range. One caller at a time.
    ///
    /// - Throws: `preconditionFailed` when the object is another meanwhile.
    public func next() async throws(ObjectStoreError) -> [UInt8]? {
        while true {
            let (source, position) = course.withLock { ($0.source, $0.position) }
            let fault: AttemptFailure
            do throws(AttemptFailure) {
                return try await piece(of: source, at: position)
            } catch {
                fault = error
            }
            // Whatever broke behind the last byte, nothing is missing.
            guard position < range.upperBound else { return nil }
            try await begin(again: fault)
        }
    }

    /// Ends it early.
    public func cancel() {
        course.withLock { course in
            course.isCancelled = true
            return course.source
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
        course.withLock { course in
            course.position += Int64(piece.count)
            course.attempts = 0
        }
        return piece
    }

    private func begin(again fault: AttemptFailure) async throws(ObjectStoreError) {
        let (attempts, position) = course.withLock { course in
            course.attempts += 1
            return (course.attempts, course.position)
        }
        guard fault.isRetryable, attempts < store.settings.attempts else { throw fault.error }
        try await store.wait(after: attempts, in: "get object")
        try requireWanted()
        let (source, _) = try await store.open(
            key, range: position..<range.upperBound, tag: tag)
        course.withLock { $0.source = source }
        do throws(ObjectStoreError) {
            try requireWanted()
        } catch {
            source.cancel()
            throw error
        }
    }

    /// - Throws: `cancelled` once it was ended early.
    private func requireWanted() throws(ObjectStoreError) {
        guard !course.withLock({ $0.isCancelled }) else {
            throw ObjectStoreError(.cancelled, "get object", words: "it was ended early")
        }
    }
}

/// Which bytes of which object an answer to GET holds.
struct RangeResponse: Sendable, Equatable {
    /// Of the whole object, in bytes.
    let size: Int64
    /// What comes.
    let range: Range<Int64>
    let tag: String
    let type: String?

    /// `nil` when the answer is not to what was asked: a store that overlooks ranges would send other
    /// bytes than its reader takes them for.
    init?(status: Int, _ fields: Fields, asked: Range<Int64>?) {
        guard let tag = fields["ETag"] else { return nil }
        self.tag = tag
        type = fields["Content-Type"]
        guard let asked else {
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
            let size = numbers[2], first == asked.lowerBound, last < size,
            last == min(asked.upperBound, size) - 1, last >= first
        else { return nil }
        self.size = size
        range = first..<(last + 1)
    }
}
