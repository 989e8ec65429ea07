internal import Blobs
internal import Digests
internal import HTTP
internal import Locking

/// Hashes and writes the buffers of one body, in their order, on a thread of its own; one without
/// work has no thread.
///
/// One thread, because a buffer is then handed over twice in all: with one thread for digests and
/// another for the disk, waking each other cost more than both could gain.
final class Stores: Sendable {
    /// A buffer on its way.
    struct Load: Sendable {
        var buffer: BodyBuffer
        let piece: Transfer.Piece
        /// With the digests that take longer, where there are any.
        var slow: Transfer?
        /// How far the body is stored with it.
        var transfer: Transfer
        var fault: DiskError?
    }

    private struct Progress {
        var transfer: Transfer
        /// The first one; nothing is written after it.
        var fault: DiskError?
    }

    private let file: StagedFile
    private let queue = WorkQueue("parley.uploads.bodies")
    private let slowQueue = WorkQueue("parley.uploads.digests")
    private let progress: Locked<Progress>
    /// `nil` when no digest is wanted that takes long.
    private let slow: Locked<Transfer?>

    init(_ file: StagedFile, _ start: Transfer) {
        self.file = file
        progress = Locked(Progress(transfer: start))
        let isSlow = start.hashes.md5 != nil || !start.bodyDigests.isEmpty
        slow = Locked(isSlow ? start : nil)
    }

    /// How far the body is stored.
    var stored: Transfer { progress.withLock { progress in progress.transfer } }

    /// Begins to store a buffer, which is lent meanwhile.
    ///
    /// MD5 takes longer than the others together, so it has a thread of its own before them, and so
    /// have a body's own digests.
    func store(_ buffer: BodyBuffer, _ piece: Transfer.Piece) -> Loan<Load> {
        let load = Load(buffer: buffer, piece: piece, transfer: stored)
        guard slow.withLock({ slow in slow != nil }) else {
            return queue.lend(load) { [self] load in write(&load) }
        }
        return queue.lend(load, first: (slowQueue, { [self] load in hashSlowly(&load) })) {
            [self] load in write(&load)
        }
    }

    /// Waits until every buffer that was handed over so far is stored.
    func finishLoads() async {
        await slowQueue.run {}
        await queue.run {}
    }

    private func hashSlowly(_ load: inout Load) {
        guard var next = slow.withLock({ slow in slow }) else { return }
        for index in next.bodyDigests.indices {
            next.bodyDigests[index].update(load.buffer.octets.span)
        }
        next.hashes.updateMD5(load.taken.span, at: load.piece.place)
        load.slow = next
        slow.withLock { [next] slow in slow = next }
    }

    private func write(_ load: inout Load) {
        var next = progress.withLock { progress in progress }
        defer {
            load.transfer = next.transfer
            load.fault = next.fault
            progress.withLock { [next] progress in progress = next }
        }
        guard next.fault == nil else { return }
        let piece = load.piece
        if piece.taken > 0 {
            do throws(DiskError) {
                try file.write(load.taken.span, at: piece.place)
            } catch {
                next.fault = error
                return
            }
        }
        next.transfer.hashes.updateAlways(load.taken.span, at: piece.place)
        if let slow = load.slow {
            next.transfer.bodyDigests = slow.bodyDigests
            next.transfer.hashes.adoptMD5(of: slow.hashes)
        }
        next.transfer.pass(piece)
    }
}

extension Stores.Load {
    /// What of the buffer is new.
    fileprivate var taken: ArraySlice<UInt8> {
        buffer.octets.dropFirst(piece.skipped).prefix(piece.taken)
    }
}
