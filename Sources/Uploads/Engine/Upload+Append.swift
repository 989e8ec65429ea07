internal import Blobs
internal import Bytes
internal import HTTP
internal import SystemSupport

extension Upload {
    /// Appends the body of a request (§4.1); every protocol uses this procedure.
    func append(
        _ append: AppendRequest, from body: any RequestBody
    ) async throws(UploadError) -> AppendOutcome {
        // A request that can be refused without disturbing a running writer is refused first.
        if isExpired { throw .gone }
        if try refusal(of: append, within: possibleOffsets) != nil {
            // The running writer may have received the first byte of the body without committing it yet.
            await commitReceived()
            if let outcome = try refusal(of: append, within: possibleOffsets) { return outcome }
        }
        // Of an atomic body nothing is visible before its end.
        try await takeTurn(body, isWriting: !append.isAtomic && append.bodyLength != 0)
        if record.state.isOpen {
            defer { leaveTurn() }
            if isPastExpiry { throw .gone }
            if let outcome = try refusal(of: append, within: storedOffset) { return outcome }
            startReceiving(observer: append.observer)
            do throws(UploadError) {
                if let outcome = try await take(append, from: body) { return outcome }
            } catch {
                // The client now uses another process.
                guard error == .superseded else { throw error }
                return .dropped
            }
        } else {
            leaveTurn()
            let answer = try await endedAnswer()
            await discardRepeatedBody(append, body)
            return .completeBefore(answer)
        }
        return .complete(try await endedAnswer())
    }

    /// Returns the offset; when the stated total length is reached, ends the upload (§5.5).
    func query(total: Int64?) async throws(UploadError) -> AppendOutcome {
        try await takeTurn()
        if record.state.isOpen {
            defer { leaveTurn() }
            if isPastExpiry { throw .gone }
            if let total, let length = record.length, length != total {
                throw .differs(from: length)
            }
            guard record.offset == record.length ?? total else { return .held(record.offset) }
            let transfer = TransferProgress(
                position: record.offset, written: record.offset, hashes: record.hashes)
            try await complete(transfer, length: record.offset, nil)
        } else {
            leaveTurn()
        }
        return .complete(try await endedAnswer())
    }

    // MARK: Checks

    private var storedOffset: ClosedRange<Int64> { record.offset...record.offset }
    private var isPastExpiry: Bool { record.expiresAt <= engine.clock.now() }

    /// Checks the header of a request.
    ///
    /// - Parameter offsets: The offsets at which the request may begin; see ``possibleOffsets``.
    /// - Returns: `nil` when the body may be read.
    private func refusal(
        of append: AppendRequest, within offsets: ClosedRange<Int64>?
    ) throws(UploadError) -> AppendOutcome? {
        guard record.state.isOpen else { return nil }
        if append.rule == .exact, let offsets, !offsets.contains(append.first) {
            return .misplaced(record.offset)
        }
        try append.check(against: record, limit: engine.settings.maxUploadSize)
        _ = try record.declared.merging(append.declared)
        guard let offsets, append.first > offsets.upperBound else { return nil }
        return .misplaced(record.offset)
    }

    /// Reads and discards the body of a full `PUT` that is repeated after the end (§8).
    ///
    /// Many clients read the response only after they have sent everything, and would see a connection reset
    /// instead. A client that waits for `100 Continue` reads first, so it need not send. A body that cannot be the
    /// same content is left to the transport (§3.4).
    private func discardRepeatedBody(_ append: AppendRequest, _ body: any RequestBody) async {
        guard case .always = append.end, append.rule == .overlap, !append.awaitsContinue,
            let length = record.length,
            append.bodyLength == nil || append.bodyLength == length,
            (try? await takeTurn(body)) != nil
        else { return }
        defer { leaveTurn() }
        var buffer = BodyBuffer(capacity: 64 << 10)
        var count: Int64 = 0
        while count <= length, await body.fill(&buffer) == nil { count += Int64(buffer.count) }
    }

    // MARK: Receiving

    /// Receives the body.
    ///
    /// - Returns: `nil` when all bytes of the content have arrived and the upload is to be finished.
    private func take(
        _ append: AppendRequest, from body: any RequestBody
    ) async throws(UploadError) -> AppendOutcome? {
        let file = try await openFile(for: append)
        var transfer = TransferProgress(
            position: append.first, written: record.offset, hashes: record.hashes,
            bodyDigests: append.bodyDigests.map { $0.algorithm.kind.init() })
        transfer.hashes.want(md5: append.wantsMD5 || append.declared.md5 != nil)
        let before = record
        try amend(for: append)
        if append.first > 0, engine.ledger.withLock({ $0.wasInterrupted(name) }) {
            engine.count { traffic in traffic.resumes += 1 }
        }

        let received = await receive(append, from: body, transfer, into: file)
        engine.count(received, of: append, from: before.offset)
        engine.ledger.withLock { [name] in $0.note(name, isInterrupted: received.end != .clean) }
        if append.failsOnOverflow, received.end == .over, received.overflow == .beyondLength {
            await fail(.overflow)
            throw .overflow
        }
        if append.isAtomic, let outcome = try await undo(append, received, body, file, before) {
            return outcome
        }
        return try await settle(append, received, file)
    }

    /// Streams a body to the disk: while one buffer is hashed and written, the next one fills.
    ///
    /// Uses two buffers, whatever the size of the body. Nothing is read while both are full, so a slow disk slows the
    /// sender down. Commits run at the same time.
    private func receive(
        _ append: AppendRequest, from body: any RequestBody, _ start: TransferProgress,
        into file: StagedFile
    ) async -> ReceivedBody {
        let (acceptedEnd, overflow) = append.acceptedEnd(
            record, limit: engine.settings.maxUploadSize)
        let half = Int64(max(1, engine.settings.bufferSize / 2))
        let capacity = Int(min(half, max(1, append.bodyLength ?? half)))
        let writer = BodyWriter(file, start)
        var received = ReceivedBody(transfer: start, end: .clean, overflow: overflow)
        var buffer = BodyBuffer(capacity: capacity)
        // Before the first byte, so that a status request counts what a slow sender sends into the first buffer.
        startCommits(of: append.isAtomic ? nil : writer, file)
        var end = await body.fill(&buffer)
        let timer = end == nil && !append.isAtomic ? startCommitTimer() : nil
        var plan = start
        var earlier: BufferHandoff<BodyWriter.Load>?
        while buffer.count > 0 {
            let segment = plan.segment(buffer.count, acceptedEnd: acceptedEnd)
            plan.advance(past: segment)
            if segment.isOver { end = .over }
            noteReceived(upTo: plan.written)
            let count = buffer.count
            let later = writer.store(buffer, segment)
            noteSubmitted(count)
            if let earlier {
                buffer = finishedBuffer(await earlier.waitForValue(), &received)
            } else {
                buffer = BodyBuffer(capacity: capacity)
            }
            earlier = later
            guard received.error == nil, end == nil else { break }
            await waitForParts(plan.written, of: append)
            end = await fill(&buffer, from: body, behind: plan.written, of: append)
        }
        if let earlier { _ = finishedBuffer(await earlier.waitForValue(), &received) }
        timer?.cancel()
        received.error = await endCommits() ?? received.error
        received.end = end ?? .broken(.interrupted)
        return received
    }

    /// Records what was stored, starts a commit when enough is written, and returns the buffer for reuse.
    private func finishedBuffer(
        _ load: BodyWriter.Load, _ received: inout ReceivedBody
    ) -> BodyBuffer {
        received.transfer = load.transfer
        // Also reports a commit that failed while the body arrives.
        received.error = received.error ?? load.error.map(StorageError.disk) ?? commits.error
        commitIfDue()
        return load.buffer
    }

    // MARK: The end of a body

    /// Verifies an atomic body. An incomplete body, or one with another digest than stated, leaves no trace.
    ///
    /// The bytes after the offset are removed when the file is opened next.
    private func undo(
        _ append: AppendRequest, _ received: ReceivedBody, _ body: any RequestBody,
        _ file: StagedFile, _ before: UploadRecord
    ) async throws(UploadError) -> AppendOutcome? {
        do throws(UploadError) {
            if let error = received.error { throw UploadError(error) }
            guard received.end == .clean else {
                restore(before)
                return try answer(to: received)
            }
            try await append.verify(received, await body.trailer, file, on: queue)
            return nil
        } catch {
            restore(before)
            if error == .checksumMismatch {
                engine.count { traffic in traffic.checksumFailures += 1 }
            }
            throw error
        }
    }

    /// Commits the received bytes and determines the outcome.
    ///
    /// - Returns: `nil` when all bytes of the content have arrived.
    private func settle(
        _ append: AppendRequest, _ received: ReceivedBody, _ file: StagedFile
    ) async throws(UploadError) -> AppendOutcome? {
        if let error = received.error {
            // On a full disk the bytes that fit are kept (§11.7). After any other failure the disk is not used
            // again: after a failed sync no byte since the last successful one is trusted.
            if case .disk(let error) = error, error.isWriteFailure && error.kind == .full {
                _ = await commit(received.transfer, file)
            }
            throw UploadError(error)
        }
        guard received.end == .clean else {
            if let error = await commit(received.transfer, file) { throw UploadError(error) }
            return try answer(to: received)
        }
        switch append.extent(endingAt: received.transfer.position, record) {
        case .open:
            if let error = await commit(received.transfer, file) { throw UploadError(error) }
            return .held(record.offset)
        case .mismatch:
            if let error = await commit(received.transfer, file) { throw UploadError(error) }
            throw .lengthMismatch(
                "The body ended before the length of the upload; send the missing bytes from the offset that HEAD reports."
            )
        case .ends(let length):
            try await complete(received.transfer, length: length, file)
            return nil
        }
    }

    /// Sets the length, makes everything durable and marks the upload as being finished (§1.4).
    private func complete(
        _ transfer: TransferProgress, length: Int64, _ file: StagedFile?
    ) async throws(UploadError) {
        let error = await commit(transfer, file) { record in
            record.length = length
            record.state = .finalizing
        }
        if let error { throw UploadError(error) }
    }

    /// The outcome of a body that did not end cleanly, after its bytes were committed or undone.
    private func answer(to received: ReceivedBody) throws(UploadError) -> AppendOutcome {
        switch received.end {
        case .clean: return .held(record.offset)
        case .over: throw received.overflow
        case .broken(.stalled): throw .stalled
        case .broken(.refused(let refusal)): throw .invalid(refusal.reason)
        case .broken(.interrupted): return .dropped
        case .broken(.superseded):
            if turn.isStopping { throw .stalled }
            return .dropped
        }
    }
}
