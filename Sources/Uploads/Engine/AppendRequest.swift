internal import Blobs
internal import Bytes
internal import SystemSupport

/// A request with a body, as every protocol passes it to the engine (§4).
struct AppendRequest: Sendable {
    /// Which offsets are allowed for the first byte.
    enum Rule: Sendable {
        /// Only the current offset: protocols B and C.
        case exact
        /// Any position up to the current offset; bytes that are stored already are skipped (§5.8).
        case overlap
    }

    /// What the clean end of a body means.
    enum End: Sendable {
        /// Never the end of the content, even where the length is reached.
        case never
        /// The content ends where its length is reached.
        case atLength
        /// The end of the content, unless a declared length is not reached yet.
        case atCleanEnd
        /// The end of the content; a declared length must match.
        case always
    }

    /// Callbacks during a request.
    struct Observer: Sendable {
        /// Called when all checks have passed and the body is about to be read.
        let began: @Sendable (UploadRecord) -> Void
        /// Called with the number of durable bytes after each commit.
        let committed: @Sendable (Int64) -> Void
    }

    /// Which offsets are allowed.
    var rule = Rule.overlap
    /// The position of the first byte of the body.
    var first: Int64
    /// The position of the last byte of the body, where the request states it.
    var last: Int64?
    /// The length of the whole content, where the request states or implies it.
    var total: Int64?
    /// What is wrong with the stated length; reported only after the offset was checked (§6.5).
    var totalFault: UploadError?
    /// The size of the body; `nil` when chunked.
    var bodyLength: Int64?
    /// What a clean end of the body means.
    var end: End
    /// Digests of this body; any of them makes the request atomic (§4.4).
    var bodyDigests: [BodyDigest] = []
    /// Parses digests of this body from its trailers; `nil` when the request announces none (§6.8).
    var trailer: (@Sendable ([String]) throws(UploadError) -> [BodyDigest])?
    /// Declared digests of the whole content.
    var declared = DeclaredDigests()
    /// Used when no media type was declared at creation.
    var mediaType: String?
    /// Whether the request belongs to protocol A, whose clients may request MD5.
    var wantsMD5 = false
    /// Whether a byte beyond the length fails the upload (§4.2).
    var failsOnOverflow = false
    /// Called during the request.
    var observer: Observer?
    /// Whether the client waits for `100 Continue` before it sends the body.
    var awaitsContinue = false

    /// Whether no byte becomes visible before the whole body was verified (§4.4).
    var isAtomic: Bool { !bodyDigests.isEmpty || trailer != nil }
}

/// The outcome of a request that appends bytes or queries the offset.
enum AppendOutcome: Sendable, Equatable {
    /// This many bytes are durable, and more are expected.
    case held(Int64)
    /// No byte was stored: the first byte of the body does not match the offset given here (§5.7, §6.5, §7.8).
    case misplaced(Int64)
    /// The content is complete, through this request.
    case complete(StoredFinalResponse)
    /// The content was complete before; the request changed nothing.
    case completeBefore(StoredFinalResponse)
    /// No client waits for a response: it disconnected, or a newer request took over.
    case dropped
}

extension AppendRequest {
    /// Performs the checks that need only the header (§4.1, steps 4 and 6; §5.2).
    func check(
        against record: UploadRecord, limit maxSize: Int64
    ) throws(UploadError) {
        if let totalFault { throw totalFault }
        if let total {
            if let length = record.length, length != total {
                throw .differs(from: length)
            }
            if total < record.offset {

                throw .lengthMismatch(
                    "The stated length is below the \(record.offset) bytes that are stored; state the length of the whole content."
                )

            }
            if total > maxSize { throw .tooLarge(limit: maxSize) }
        }
        try checkStatedRange(record.offset)
        let length = record.length ?? total
        let stop = last.map { $0 + 1 } ?? bodyLength.flatMap { first.adding($0) }
        if let stop {
            if stop > length ?? .max {
                throw .beyondLength
            }
            if stop > maxSize { throw .tooLarge(limit: maxSize) }
        } else if bodyLength != nil {
            throw .tooLarge(limit: maxSize)
        }
    }

    private func checkStatedRange(_ offset: Int64) throws(UploadError) {
        guard let last, let bodyLength, bodyLength != last - first + 1 else { return }
        // An empty body for stored bytes is an overlap.
        if bodyLength == 0 && last < offset { return }
        throw .invalid(
            "Content-Length must be the number of bytes that Content-Range names; correct one of them."
        )
    }

    /// The position after the last byte to accept, and the error for a byte beyond it.
    func acceptedEnd(_ record: UploadRecord, limit maxSize: Int64) -> (Int64, UploadError) {
        let length = record.length ?? total
        if let last, last < (length ?? .max) - 1 {
            return (
                last + 1,
                .lengthMismatch(
                    "The body is longer than Content-Range states; send the rest in another request."
                )
            )
        }
        guard let length else { return (maxSize, .tooLarge(limit: maxSize)) }
        return (length, .beyondLength)
    }

    /// What the clean end of a body means for the length of the content.
    enum Extent {
        /// More bytes are expected.
        case open
        /// The body ended before the length of the content.
        case mismatch
        /// The content is complete, with this length.
        case ends(Int64)
    }

    /// - Parameter position: The offset after the last byte of the body.
    func extent(endingAt position: Int64, _ record: UploadRecord) -> Extent {
        let offset = max(position, record.offset)
        switch (end, record.length) {
        case (.never, _): return .open
        case (.atLength, let length?), (.atCleanEnd, let length?):
            return offset == length ? .ends(length) : .open
        case (.atLength, nil): return .open
        case (.always, let length?): return position == length ? .ends(length) : .mismatch
        case (.atCleanEnd, nil), (.always, nil):
            return position >= record.offset ? .ends(position) : .mismatch
        }
    }

    /// Compares a body with the digests that its header or its trailer states (§4.4, §6.8).
    ///
    /// - Throws: ``UploadError/checksumMismatch``, or what is invalid about the trailer.
    func verify(
        _ received: ReceivedBody, _ fields: @autoclosure () async -> [String], _ file: StagedFile,
        on queue: WorkQueue
    ) async throws(UploadError) {
        if received.differs(from: bodyDigests) { throw .checksumMismatch }
        guard let trailer else { return }
        let range = first..<received.transfer.written
        for stated in try trailer(await fields()) {
            let digest = try await stated.algorithm.digest(of: file, range, on: queue)
            guard digest == stated.value else { throw .checksumMismatch }
        }
    }
}

extension DigestAlgorithm {
    /// The digest of bytes that were just written.
    ///
    /// Only the trailer names the algorithm, so the bytes are read again from the page cache, 256 KiB at a time,
    /// because other uploads use the same queue.
    fileprivate func digest(
        of file: StagedFile, _ range: Range<Int64>, on queue: WorkQueue
    ) async throws(UploadError) -> [UInt8] {
        var running = kind.init()
        var position = range.lowerBound
        while position < range.upperBound {
            let (current, start) = (running, position)
            let count = Int(min(range.upperBound - start, 256 << 10))
            do throws(DiskError) {
                running = try await queue.run { () throws(DiskError) in
                    var running = current
                    let bytes = try file.read(count, at: start)
                    guard bytes.count == count else {
                        throw DiskError(kind: .damaged, operation: "verifying a digest")
                    }
                    running.update(bytes.span)
                    return running
                }
            } catch {
                throw UploadError(error)
            }
            position += Int64(count)
        }
        return running.digest
    }
}

extension UploadError {
    /// The error for a length that differs from the known one.
    static func differs(from length: Int64) -> UploadError {
        .lengthMismatch(
            "The upload has a length of \(length) bytes, and the request states another one in Content-Range, Content-Length or Upload-Length; state the same length, or none."
        )
    }
}

extension Int64 {
    fileprivate func adding(_ other: Int64) -> Int64? {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}
