internal import Blobs
internal import Bytes
internal import HTTP
internal import SystemSupport

/// Hashes and writes the buffers of one body, in their order, on a thread of its own; one without
/// work has no thread.
///
/// One thread, because a buffer is then handed over twice in all: with one thread for digests and
/// another for the disk, waking each other cost more than both could gain.
final class BodyWriter: Sendable {
    /// A buffer on its way.
    struct Load: Sendable {
        var buffer: BodyBuffer
        let segment: TransferProgress.Segment
        /// With the digests that take longer, where there are any.
        var slow: TransferProgress?
        /// How far the body is stored with it.
        var transfer: TransferProgress
        var error: DiskError?
    }

    private struct Progress {
        var transfer: TransferProgress
        /// The first one; nothing is written after it.
        var error: DiskError?
    }

    private let file: StagedFile
    private let queue = WorkQueue("parley.uploads.bodies")
    private let slowQueue = WorkQueue("parley.uploads.digests")
    private let progress: Locked<Progress>
    /// `nil` when no digest is wanted that takes long.
    private let slow: Locked<TransferProgress?>

    init(_ file: StagedFile, _ start: TransferProgress) {
        self.file = file
        progress = Locked(Progress(transfer: start))
        let isSlow = start.hashes.md5 != nil || !start.bodyDigests.isEmpty
        slow = Locked(isSlow ? start : nil)
    }

    /// How far the body is stored.
    var stored: TransferProgress { progress.withLock { progress in progress.transfer } }

    /// Begins to store a buffer, which is lent meanwhile.
    ///
    /// MD5 takes longer than the others together, so it has a thread of its own before them, and so
    /// have a body's own digests.
    func store(_ buffer: BodyBuffer, _ segment: TransferProgress.Segment) -> BufferHandoff<Load> {
        let load = Load(buffer: buffer, segment: segment, transfer: stored)
        guard slow.withLock({ slow in slow != nil }) else {
            return queue.handOff(load) { [self] load in write(&load) }
        }
        return queue.handOff(load, first: (slowQueue, { [self] load in hashSlowly(&load) })) {
            [self] load in write(&load)
        }
    }

    /// Waits until every buffer that was handed over so far is stored.
    func finishWrites() async {
        await slowQueue.run {}
        await queue.run {}
    }

    private func hashSlowly(_ load: inout Load) {
        guard var next = slow.withLock({ slow in slow }) else { return }
        for index in next.bodyDigests.indices {
            next.bodyDigests[index].update(load.buffer.bytes.span)
        }
        next.hashes.updateMD5(load.taken.span, at: load.segment.place)
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
                try file.write(load.taken.span, at: segment.place)
            } catch {
                next.error = error
                return
            }
        }
        next.transfer.hashes.updateAlways(load.taken.span, at: segment.place)
        if let slow = load.slow {
            next.transfer.bodyDigests = slow.bodyDigests
            next.transfer.hashes.adoptMD5(of: slow.hashes)
        }
        next.transfer.advance(past: segment)
    }
}

extension BodyWriter.Load {
    /// What of the buffer is new.
    fileprivate var taken: ArraySlice<UInt8> {
        buffer.bytes.dropFirst(segment.skipped).prefix(segment.taken)
    }
}

/// What was received of a body.
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

/// How far one request has come; a value, handed from step to step.
struct TransferProgress: Sendable {
    /// Index in the content of the next byte the body will give.
    var position: Int64
    /// Bytes written to the file, not yet durable beyond the record's offset.
    var written: Int64
    /// Over everything written.
    var hashes: RunningHashes
    /// Over everything received: one for each digest the client stated of this body.
    var bodyDigests: [any RunningDigest] = []

    /// What happens to one piece of the body.
    struct Segment {
        /// Leading bytes that are held already.
        let skipped: Int
        /// Bytes after them that are new.
        let taken: Int
        /// Where the new ones go.
        let place: Int64
        /// Bytes came that have no place.
        let isOver: Bool
    }

    /// Divides the next `count` bytes of the body: held bytes are never written again (§5.8).
    func segment(_ count: Int, border: Int64) -> Segment {
        let end = min(position + Int64(count), border)
        let skipped = max(0, min(Int64(count), written - position))
        return Segment(
            skipped: Int(skipped), taken: Int(max(0, end - position - skipped)), place: written,
            isOver: position + Int64(count) > border)
    }

    /// Goes past a segment.
    mutating func advance(past segment: Segment) {
        position += Int64(segment.skipped + segment.taken)
        written += Int64(segment.taken)
    }
}

/// How the body of a request ended.
enum BodyEnd: Sendable, Equatable {
    /// Every announced byte came.
    case clean
    /// A byte came that has no place.
    case over
    /// It broke off.
    case broken(BodyError)
}

extension RequestBody {
    /// Whether nothing comes; a chunked body shows only when read.
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
