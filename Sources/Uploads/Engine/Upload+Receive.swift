internal import Blobs
internal import Digests
internal import HTTP
internal import Locking

/// What came of a body.
struct Arrival: Sendable {
    var transfer: Transfer
    var end: BodyEnd
    /// The rule a byte too many broke.
    var overflow: UploadError
    /// The disk gave up in the middle.
    var fault: DiskError?

    /// Whether a digest of the body is not the one stated.
    func isWrong(_ stated: [BodyDigest]) -> Bool {
        transfer.bodyDigests.map(\.digest) != stated.map(\.value)
    }
}

extension Upload {
    /// Streams a body to the disk: while one buffer is written and hashed, the next one fills.
    ///
    /// Memory is two buffers, whatever the size; a slow disk stops the socket, because nothing is
    /// read while both are full.
    func receive(
        _ append: Append, from body: any RequestBody, _ start: Transfer, into file: StagedFile
    ) async -> Arrival {
        let (border, overflow) = append.border(record, limit: engine.settings.maxUploadSize)
        let half = Int64(max(1, engine.settings.bufferSize / 2))
        let capacity = Int(min(half, max(1, append.bodyLength ?? half)))
        let store = Storing(
            file: file, disk: queue, digests: WorkQueue("parley.uploads.digests"),
            slow: WorkQueue("parley.uploads.digests.slow"), border: border,
            commitsOnTheWay: !append.isAtomic)
        var arrival = Arrival(transfer: start, end: .clean, overflow: overflow)
        var committedAt = engine.clock.now()
        var full = BodyBuffer(capacity: capacity)
        var spare = BodyBuffer(capacity: capacity)
        var end = await body.fill(&full)
        quiet = QuietCommits()
        let watch = end == nil && store.commitsOnTheWay ? commitWhenQuiet(file) : nil
        while full.count > 0 {
            let (chunk, so, since) = (full, arrival.transfer, committedAt)
            let piece = arrival.transfer.piece(chunk.count, border: border)
            if piece.isOver { end = .over }
            async let stored = self.store(chunk, so, store, since)
            if end == nil { end = await body.fill(&spare) } else { spare.removeAll() }
            let step = await stored
            arrival.transfer = step.transfer
            committedAt = step.committedAt
            if let fault = step.fault {
                arrival.fault = fault
                break
            }
            swap(&full, &spare)
        }
        watch?.cancel()
        arrival.fault = await endQuiet() ?? arrival.fault
        arrival.end = end ?? .broken(.interrupted)
        return arrival
    }

    /// Writes and hashes one buffer side by side, and commits when it is time (§4.1, step 8).
    private func store(
        _ chunk: BodyBuffer, _ transfer: Transfer, _ store: Storing, _ committedAt: Int64
    ) async -> Step {
        if let fault = await endQuiet() {
            return Step(transfer: transfer, committedAt: committedAt, fault: fault)
        }
        let piece = transfer.piece(chunk.count, border: store.border)
        async let written = store.write(chunk, piece)
        async let hashed = store.hash(chunk, piece, transfer)
        let fault = await written
        var step = Step(transfer: await hashed, committedAt: committedAt, fault: fault)
        guard fault == nil else {
            step.transfer = transfer
            return step
        }
        step.transfer.position += Int64(piece.skipped + piece.taken)
        step.transfer.written += Int64(piece.taken)
        if let start = reach?.lowerBound { reach = start...step.transfer.written }
        let waiting = step.transfer.written - record.offset
        let age = engine.clock.now() - committedAt
        let isDue =
            waiting >= engine.settings.commitBytes
            || waiting > 0 && age >= engine.settings.commitInterval
        if isDue && store.commitsOnTheWay {
            step.fault = await commit(step.transfer, store.file)
            step.committedAt = engine.clock.now()
        } else if store.commitsOnTheWay {
            quiet.resting = step.transfer
        }
        return step
    }
}

/// Where one buffer's work has led.
private struct Step: Sendable {
    var transfer: Transfer
    var committedAt: Int64
    var fault: DiskError?
}

/// The queues of one request and what they work on; one without work has no thread.
private struct Storing: Sendable {
    let file: StagedFile
    let disk: WorkQueue
    let digests: WorkQueue
    let slow: WorkQueue
    let border: Int64
    let commitsOnTheWay: Bool

    func write(_ chunk: BodyBuffer, _ piece: Transfer.Piece) async -> DiskError? {
        guard piece.taken > 0 else { return nil }
        let file = file
        do throws(DiskError) {
            try await disk.run { () throws(DiskError) in
                let octets = chunk.octets.dropFirst(piece.skipped).prefix(piece.taken)
                try file.write(octets.span, at: piece.place)
            }
            return nil
        } catch {
            return error
        }
    }

    /// MD5 takes longer than the others together, so it runs beside them, and so do a body's own.
    func hash(_ chunk: BodyBuffer, _ piece: Transfer.Piece, _ transfer: Transfer) async -> Transfer
    {
        async let slow = hashSlowly(chunk, piece, transfer)
        var next = transfer
        next.hashes = await digests.run {
            var hashes = transfer.hashes
            let octets = chunk.octets.dropFirst(piece.skipped).prefix(piece.taken)
            hashes.updateAlways(octets.span, at: piece.place)
            return hashes
        }
        if let slow = await slow {
            next.bodyDigests = slow.bodyDigests
            next.hashes.adoptMD5(of: slow.hashes)
        }
        return next
    }

    private func hashSlowly(
        _ chunk: BodyBuffer, _ piece: Transfer.Piece, _ transfer: Transfer
    ) async -> Transfer? {
        guard transfer.hashes.md5 != nil || !transfer.bodyDigests.isEmpty else { return nil }
        return await slow.run {
            var next = transfer
            for index in next.bodyDigests.indices {
                let octets = chunk.octets
                next.bodyDigests[index].update(octets.span)
            }
            let octets = chunk.octets.dropFirst(piece.skipped).prefix(piece.taken)
            next.hashes.updateMD5(octets.span, at: piece.place)
            return next
        }
    }
}
