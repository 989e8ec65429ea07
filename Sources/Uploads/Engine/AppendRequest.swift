internal import Blobs
internal import Bytes
internal import SystemSupport

/// A request that carries bytes, in the engine's words (§4).
struct AppendRequest: Sendable {
    /// Where the first byte may lie.
    enum Rule: Sendable {
        /// At what is held, nowhere else: dialects B and C.
        case exact
        /// Anywhere up to what is held; bytes held already are passed over (§5.8).
        case overlap
    }

    /// What a clean end of the body means.
    enum End: Sendable {
        /// Never the end of the content, even where its length says so.
        case never
        /// Nothing by itself: the content ends where its length says.
        case atLength
        /// The end of the content, unless a declared length is not yet reached.
        case atCleanEnd
        /// The end of the content; a declared length must agree.
        case always
    }

    /// Somebody who is told on the way.
    struct Observer: Sendable {
        /// All checks have passed, and the body is about to be read.
        let began: @Sendable (UploadRecord) -> Void
        /// So many bytes are durable.
        let committed: @Sendable (Int64) -> Void
    }

    /// How the first byte is judged.
    var rule = Rule.overlap
    /// Index of the first body byte.
    var first: Int64
    /// Index of the last body byte, where the request states it.
    var last: Int64?
    /// Length of the whole content, where the request states or implies it.
    var total: Int64?
    /// What is wrong with the length the request states; it counts only after the offset (§6.5).
    var totalFault: UploadError?
    /// Bytes in the body; `nil` when chunked.
    var bodyLength: Int64?
    /// What a clean end of the body means.
    var end: End
    /// Digests of this body; any of them makes the request all or nothing (§4.4).
    var bodyDigests: [BodyDigest] = []
    /// Reads digests of this body from the trailers behind it; `nil` where nobody looks (§6.8).
    var trailer: (@Sendable ([String]) throws(UploadError) -> [BodyDigest])?
    /// Digests of the whole content.
    var declared = DeclaredDigests()
    /// Taken when none was declared at creation.
    var mediaType: String?
    /// The request belongs to dialect A, whose clients may ask for MD5.
    var wantsMD5 = false
    /// A byte beyond the length fails the upload (§4.2).
    var failsOnOverflow = false
    /// Who is told how it goes on.
    var observer: Observer?
    /// The client sends its body only when told to, or when it grows tired of waiting.
    var awaitsContinue = false

    /// Nobody sees its bytes before all of them are known to be right (§4.4).
    var isAtomic: Bool { !bodyDigests.isEmpty || trailer != nil }
}

/// What became of a request that carries bytes or asks how many are held.
enum AppendOutcome: Sendable, Equatable {
    /// So many bytes are durable, more are expected.
    case held(Int64)
    /// Nothing was taken: the first byte does not fit the so many that are held, by the request's
    /// rule (§5.7, §6.5, §7.8).
    case misplaced(Int64)
    /// Everything is there, and this request saw to it.
    case complete(StoredResponse)
    /// Everything was there before; nothing of this request counts.
    case completeBefore(StoredResponse)
    /// Nobody is there to answer: the client went away, or a newer request took over.
    case dropped
}

extension AppendRequest {
    /// The checks that need the head alone (§4.1, steps 4 and 6; §5.2).
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
                    "The stated length is below the \(record.offset) bytes that are held; state the length of the whole content."
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
        // An empty body for bytes that are held already is a pure overlap.
        if bodyLength == 0 && last < offset { return }
        throw .invalid(
            "Content-Length must be the number of bytes that Content-Range names; correct one of them."
        )
    }

    /// Where taking bytes stops, and which rule a byte beyond it breaks.
    func border(_ record: UploadRecord, limit maxSize: Int64) -> (Int64, UploadError) {
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

    /// What the clean end of a body says about the length of the content.
    enum Extent {
        /// More bytes are expected.
        case open
        /// The body ended before the length of the content.
        case mismatch
        /// The content is complete, with this length.
        case ends(Int64)
    }

    /// - Parameter position: The offset behind the last byte of the body.
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
                        throw DiskError(kind: .damaged, operation: "verify")
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
    /// A length that is not the one the upload has.
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
