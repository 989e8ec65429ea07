internal import Blobs
internal import Bytes
internal import HTTP
internal import SystemSupport

/// Hashes and writes the buffers of one body in order, on its own thread; an idle writer has no thread.
///
/// There is one thread for both, so a buffer is handed over only twice. A second thread for digests would cost more
/// in wake-ups than it gains.
final class BodyWriter: Sendable {
    /// A buffer that is being stored.
    struct Load: Sendable {
        var buffer: BodyBuffer
        fileprivate let segment: TransferProgress.Segment
        /// With the slow digests, where there are any.
        fileprivate var slow: TransferProgress?
        /// The progress of the body after this buffer.
        var transfer: TransferProgress
        var error: DiskError?
    }

    private struct Progress {
        var transfer: TransferProgress
        /// The first error; nothing is written after it.
        var error: DiskError?
    }

    private let file: StagedFile
    private let queue = WorkQueue("parley.uploads.bodies")
    private let slowQueue = WorkQueue("parley.uploads.digests")
    private let progress: Locked<Progress>
    /// `nil` when no slow digest is wanted.
    private let slow: Locked<TransferProgress?>

    init(_ file: StagedFile, _ start: TransferProgress) {
        self.file = file
        progress = Locked(Progress(transfer: start))
        let isSlow = start.hashes.md5 != nil || !start.bodyDigests.isEmpty
        slow = Locked(isSlow ? start : nil)
    }

    /// The progress of the body so far.
    var stored: TransferProgress { progress.withLock { progress in progress.transfer } }

    /// Starts to store a buffer, which is handed off until it is stored.
    ///
    /// MD5 takes longer than the other digests together, so it runs on its own thread before them; so do the
    /// digests of the body.
    func store(_ buffer: BodyBuffer, _ segment: TransferProgress.Segment) -> BufferHandoff<Load> {
        let load = Load(buffer: buffer, segment: segment, transfer: stored)
        guard slow.withLock({ slow in slow != nil }) else {
            return queue.handOff(load) { [self] load in write(&load) }
        }
        return queue.handOff(load, first: (slowQueue, { [self] load in hashSlowly(&load) })) {
            [self] load in write(&load)
        }
    }

    /// Waits until every submitted buffer is stored.
    func finishWrites() async {
        await slowQueue.run {}
        await queue.run {}
    }

    private func hashSlowly(_ load: inout Load) {
        guard var next = slow.withLock({ slow in slow }) else { return }
        for index in next.bodyDigests.indices {
            next.bodyDigests[index].update(load.buffer.bytes.span)
        }
        next.hashes.updateMD5(load.taken.span, at: load.segment.start)
        load.slow = next
        slow.withLock { [next] slow in slow = next }
    }

    private func write(_ load: inout Load) {
        var next = progress.withLock { progress in progress }
        defer {
            load.transfer = next.transfer
            load.error = next.error
            progress.withLock { [next] progress in progress = next }
        }
        guard next.error == nil else { return }
        let segment = load.segment
        if segment.taken > 0 {
            do throws(DiskError) {
                try file.write(load.taken.span, at: segment.start)
            } catch {
                next.error = error
                return
            }
        }
        next.transfer.hashes.updateAlways(load.taken.span, at: segment.start)
        if let slow = load.slow {
            next.transfer.bodyDigests = slow.bodyDigests
            next.transfer.hashes.adoptMD5(of: slow.hashes)
        }
        next.transfer.advance(past: segment)
    }
}

extension BodyWriter.Load {
    /// The new bytes of the buffer.
    fileprivate var taken: ArraySlice<UInt8> {
        buffer.bytes.dropFirst(segment.skipped).prefix(segment.taken)
    }
}

/// The received bytes of a body.
struct ReceivedBody: Sendable {
    var transfer: TransferProgress
    var end: BodyEnd
    /// The error for a body with too many bytes.
    var overflow: UploadError
    /// Why the bytes could not be stored.
    var error: StorageError?

    /// Whether a digest of the body is not the stated one.
    func differs(from stated: [BodyDigest]) -> Bool {
        transfer.bodyDigests.map(\.digest) != stated.map(\.value)
    }
}

/// The progress of one request; a value that is passed from step to step.
struct TransferProgress: Sendable {
    /// The position in the content of the next byte of the body.
    var position: Int64
    /// Bytes written to the file; those beyond the record's offset are not durable yet.
    var written: Int64
    /// The digests of everything written.
    var hashes: RunningHashes
    /// The digests of everything received, one for each digest that the client stated.
    var bodyDigests: [any RunningDigest] = []

    /// The next bytes of a body, divided by what happens to them.
    struct Segment {
        /// Leading bytes that are stored already.
        fileprivate let skipped: Int
        /// The new bytes after them.
        fileprivate let taken: Int
        /// The position of the new bytes.
        fileprivate let start: Int64
        /// Whether more bytes arrived than are accepted.
        let isOver: Bool
    }

    /// Divides the next `count` bytes of the body: stored bytes are never written again (§5.8).
    func segment(_ count: Int, acceptedEnd: Int64) -> Segment {
        let end = min(position + Int64(count), acceptedEnd)
        let skipped = max(0, min(Int64(count), written - position))
        return Segment(
            skipped: Int(skipped), taken: Int(max(0, end - position - skipped)), start: written,
            isOver: position + Int64(count) > acceptedEnd)
    }

    /// Advances past a segment.
    mutating func advance(past segment: Segment) {
        position += Int64(segment.skipped + segment.taken)
        written += Int64(segment.taken)
    }
}

/// How the body of a request ended.
enum BodyEnd: Sendable, Equatable {
    /// All announced bytes arrived.
    case clean
    /// More bytes arrived than allowed.
    case over
    /// The body was interrupted.
    case broken(BodyError)
}

extension RequestBody {
    /// Whether the body has no bytes; a chunked body must be read to know.
    var isEmpty: Bool {
        get async {
            if let length { return length == 0 }
            var buffer = BodyBuffer(capacity: 1)
            return await fill(&buffer) == .clean
        }
    }

    /// Fills a buffer; `nil` while more may follow.
    func fill(_ buffer: inout BodyBuffer) async -> BodyEnd? {
        do throws(BodyError) {
            try await read(into: &buffer)
            return buffer.count == 0 ? .clean : nil
        } catch {
            buffer.removeAll()
            return .broken(error)
        }
    }
}
