internal import HTTPClient
internal import Locking

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
        var source: ClientStream
        var position: Int64
        /// How often the rest was asked for since the last byte.
        var attempts = 0
        /// Also while no source is open that could be cancelled.
        var isCancelled = false
    }

    private let store: ObjectStore
    private let key: ObjectKey
    private let course: Locked<Course>

    init(_ store: ObjectStore, _ key: ObjectKey, _ source: ClientStream, _ stretch: ObjectStretch) {
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
    /// - Throws: `lostRace` when the object is another meanwhile.
    public func next() async throws(ObjectStoreError) -> [UInt8]? {
        while true {
            let (source, position) = course.withLock { ($0.source, $0.position) }
            let fault: Fault
            do throws(Fault) {
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
        of source: ClientStream, at position: Int64
    ) async throws(Fault) -> [UInt8]? {
        let piece: [UInt8]?
        do throws(HTTPClientError) {
            piece = try await source.next()
        } catch {
            throw Fault(error, in: "get object")
        }
        let rest = range.upperBound - position
        guard let piece else {
            guard rest == 0 else { throw Fault(endingBefore: rest, in: "get object") }
            return nil
        }
        guard piece.count <= rest else {
            source.cancel()
            throw Fault(lacking: "end", status: source.status, in: "get object")
        }
        course.withLock { course in
            course.position += Int64(piece.count)
            course.attempts = 0
        }
        return piece
    }

    private func begin(again fault: Fault) async throws(ObjectStoreError) {
        let (attempts, position) = course.withLock { course in
            course.attempts += 1
            return (course.attempts, course.position)
        }
        guard fault.isPassing, attempts < store.settings.attempts else { throw fault.error }
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
