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
    /// The disk gave up in the middle, or whatever bytes are kept in.
    var fault: StorageError?

    /// Whether a digest of the body is not the one stated.
    func isWrong(_ stated: [BodyDigest]) -> Bool {
        transfer.bodyDigests.map(\.digest) != stated.map(\.value)
    }
}

extension Upload {
    /// Streams a body to the disk: while one buffer is hashed and written, the next one fills.
    ///
    /// Memory is two buffers, whatever the size; a slow disk stops the socket, because nothing is
    /// read while both are full. Beside this, what is written becomes durable on the way.
    func receive(
        _ append: Append, from body: any RequestBody, _ start: Transfer, into file: StagedFile
    ) async -> Arrival {
        let (border, overflow) = append.border(record, limit: engine.settings.maxUploadSize)
        let half = Int64(max(1, engine.settings.bufferSize / 2))
        let capacity = Int(min(half, max(1, append.bodyLength ?? half)))
        let stores = Stores(file, start)
        var arrival = Arrival(transfer: start, end: .clean, overflow: overflow)
        var buffer = BodyBuffer(capacity: capacity)
        // Before the first byte: what a slow sender has sent counts while the first buffer fills.
        commits = append.isAtomic ? Commits() : Commits(stores: stores, file: file)
        var end = await body.fill(&buffer)
        let timer = end == nil && !append.isAtomic ? commitRegularly() : nil
        var plan = start
        var earlier: Loan<Stores.Load>?
        while buffer.count > 0 {
            let piece = plan.piece(buffer.count, border: border)
            plan.pass(piece)
            if piece.isOver { end = .over }
            if let start = reach?.lowerBound { reach = start...plan.written }
            let count = buffer.count
            let later = stores.store(buffer, piece)
            noteHandedOver(count)
            if let earlier {
                buffer = stored(await earlier.back(), &arrival)
            } else {
                buffer = BodyBuffer(capacity: capacity)
            }
            earlier = later
            guard arrival.fault == nil, end == nil else { break }
            await waitForOthers(plan.written, of: append)
            end = await fill(&buffer, from: body, behind: plan.written, of: append)
        }
        if let earlier { _ = stored(await earlier.back(), &arrival) }
        timer?.cancel()
        arrival.fault = await endCommits() ?? arrival.fault
        arrival.end = end ?? .broken(.interrupted)
        return arrival
    }

    /// Takes note of what is stored and begins to commit when it is much; gives the buffer back.
    private func stored(_ load: Stores.Load, _ arrival: inout Arrival) -> BodyBuffer {
        arrival.transfer = load.transfer
        // Of a commit that failed on the way one hears here, too.
        arrival.fault = arrival.fault ?? load.fault.map(StorageError.disk) ?? commits.fault
        commitWhenMuch()
        return load.buffer
    }
}
