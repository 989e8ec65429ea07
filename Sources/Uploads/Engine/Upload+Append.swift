internal import Blobs
internal import Bytes
internal import HTTP
internal import SystemSupport

extension Upload {
    /// The one append procedure (§4.1).
    func append(
        _ append: AppendRequest, from body: any RequestBody
    ) async throws(UploadError) -> AppendOutcome {
        // What can be refused without disturbing a running writer is refused first.
        if isExpired { throw .gone }
        if try refusal(of: append, within: isTaken ? reach : held) != nil {
            // Its first byte may be one that a running writer has received and not handed over yet.
            await commitReceived()
            if let outcome = try refusal(of: append, within: isTaken ? reach : held) {
                return outcome
            }
        }
        // Of an atomic body nothing is visible before its end.
        try await takeTurn(body, isWriting: !append.isAtomic && append.bodyLength != 0)
        if record.state.isOpen {
            defer { leaveTurn() }
            if isExpired(withTurn: true) { throw .gone }
            if let outcome = try refusal(of: append, within: held) { return outcome }
            reach = held
            watch = append.watch
            watch?.began(record)
            do throws(UploadError) {
                if let outcome = try await take(append, from: body) { return outcome }
            } catch {
                // Its client talks to another process now.
                guard error == .superseded else { throw error }
                return .dropped
            }
        } else {
            leaveTurn()
            let answer = try await endedAnswer()
            await passOver(append, body)
            return .completeBefore(answer)
        }
        return .complete(try await endedAnswer())
    }

    /// Reads the body of a full `PUT` that came again after the end (§8).
    ///
    /// Many clients listen only once they have sent everything, and would hear a reset in place of
    /// the answer. One that waits for `100 Continue` listens first, so it is spared the sending;
    /// what cannot be the content again is dealt with by the transport (§3.4).
    private func passOver(_ append: AppendRequest, _ body: any RequestBody) async {
        guard case .always = append.end, append.rule == .overlap, !append.awaitsContinue,
            let length = record.length,
            append.bodyLength == nil || append.bodyLength == length,
            (try? await takeTurn(body)) != nil
        else { return }
        defer { leaveTurn() }
        var buffer = BodyBuffer(capacity: 64 << 10)
        var passed: Int64 = 0
        while passed <= length, await body.fill(&buffer) == nil { passed += Int64(buffer.count) }
    }

    /// How much is held; with a total that is reached, the end (§5.5).
    func query(total: Int64?) async throws(UploadError) -> AppendOutcome {
        try await takeTurn()
        if record.state.isOpen {
            defer { leaveTurn() }
            if isExpired(withTurn: true) { throw .gone }
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

    private var held: ClosedRange<Int64> { record.offset...record.offset }

    private func isExpired(withTurn: Bool) -> Bool { record.expiresAt <= engine.clock.now() }

    /// What the head alone decides; `nil` when the body may come.
    ///
    /// - Parameter reach: Between what a running writer began with and what it has by now, all is
    ///   possible; without one it is what is held (§11.4).
    private func refusal(
        of append: AppendRequest, within reach: ClosedRange<Int64>?
    ) throws(UploadError) -> AppendOutcome? {
        guard record.state.isOpen else { return nil }
        if append.rule == .exact, let reach, !reach.contains(append.first) {
            return .misplaced(record.offset)
        }
        try append.check(against: record, limit: engine.settings.maxUploadSize)
        _ = try record.declared.merging(append.declared)
        guard let reach, append.first > reach.upperBound else { return nil }
        return .misplaced(record.offset)
    }

    /// Receives the body; `nil` when the content is whole and waits to be finished.
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
        if append.first > 0, engine.ledger.withLock({ $0.brokeOff(name) }) {
            engine.count { traffic in traffic.resumes += 1 }
        }
        let arrival = await receive(append, from: body, transfer, into: file)
        engine.count(arrival, of: append, from: before.offset)
        engine.ledger.withLock { [name] in $0.note(name, brokeOff: arrival.end != .clean) }
        if append.failsOnOverflow, arrival.end == .over, arrival.overflow == .beyondLength {
            await fail(.overflow)
            throw .overflow
        }
        if append.isAtomic, let outcome = try await undo(append, arrival, body, file, before) {
            return outcome
        }
        return try await settle(append, arrival, file)
    }

    /// All or nothing: a body that is not whole, or not the one its digests tell of, never was.
    ///
    /// The bytes behind the offset go when the file is opened next.
    private func undo(
        _ append: AppendRequest, _ arrival: ReceivedBody, _ body: any RequestBody,
        _ file: StagedFile,
        _ before: UploadRecord
    ) async throws(UploadError) -> AppendOutcome? {
        do throws(UploadError) {
            if let fault = arrival.fault { throw UploadError(fault) }
            guard arrival.end == .clean else {
                record = before
                return try answer(to: arrival)
            }
            try await verify(append, arrival, body, file)
            return nil
        } catch {
            record = before
            if error == .checksumMismatch {
                engine.count { traffic in traffic.checksumFailures += 1 }
            }
            throw error
        }
    }

    /// What the request adds to the record; durable with the first commit.
    private func amend(for append: AppendRequest) throws(UploadError) {
        record.declared = try record.declared.merging(append.declared)
        if record.mediaType == nil, let type = append.mediaType {
            record.mediaType = MediaType(untrusted: type).text
        }
        if record.length == nil { record.length = append.total }
    }
}

/// What came of a body.
struct ReceivedBody: Sendable {
    var transfer: TransferProgress
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
        _ append: AppendRequest, from body: any RequestBody, _ start: TransferProgress,
        into file: StagedFile
    ) async -> ReceivedBody {
        let (border, overflow) = append.border(record, limit: engine.settings.maxUploadSize)
        let half = Int64(max(1, engine.settings.bufferSize / 2))
        let capacity = Int(min(half, max(1, append.bodyLength ?? half)))
        let stores = BodyWriter(file, start)
        var arrival = ReceivedBody(transfer: start, end: .clean, overflow: overflow)
        var buffer = BodyBuffer(capacity: capacity)
        // Before the first byte: what a slow sender has sent counts while the first buffer fills.
        commits = append.isAtomic ? Commits() : Commits(stores: stores, file: file)
        var end = await body.fill(&buffer)
        let timer = end == nil && !append.isAtomic ? commitRegularly() : nil
        var plan = start
        var earlier: BufferHandoff<BodyWriter.Load>?
        while buffer.count > 0 {
            let piece = plan.piece(buffer.count, border: border)
            plan.pass(piece)
            if piece.isOver { end = .over }
            if let start = reach?.lowerBound { reach = start...plan.written }
            let count = buffer.count
            let later = stores.store(buffer, piece)
            noteHandedOver(count)
            if let earlier {
                buffer = stored(await earlier.waitForValue(), &arrival)
            } else {
                buffer = BodyBuffer(capacity: capacity)
            }
            earlier = later
            guard arrival.fault == nil, end == nil else { break }
            await waitForOthers(plan.written, of: append)
            end = await fill(&buffer, from: body, behind: plan.written, of: append)
        }
        if let earlier { _ = stored(await earlier.waitForValue(), &arrival) }
        timer?.cancel()
        arrival.fault = await endCommits() ?? arrival.fault
        arrival.end = end ?? .broken(.interrupted)
        return arrival
    }

    /// Takes note of what is stored and begins to commit when it is much; gives the buffer back.
    private func stored(_ load: BodyWriter.Load, _ arrival: inout ReceivedBody) -> BodyBuffer {
        arrival.transfer = load.transfer
        // Of a commit that failed on the way one hears here, too.
        arrival.fault = arrival.fault ?? load.fault.map(StorageError.disk) ?? commits.fault
        commitWhenMuch()
        return load.buffer
    }
}

extension Upload {
    /// Commits what a body brought and says what it means; `nil` when the content is whole.
    func settle(
        _ append: AppendRequest, _ arrival: ReceivedBody, _ file: StagedFile
    ) async throws(UploadError) -> AppendOutcome? {
        if let fault = arrival.fault {
            // Of a full disk, what did fit is worth keeping (§11.7); a broken one is not asked.
            // After a failed sync nothing written since the last one is believed.
            if case .disk(let error) = fault, error.isWriteFailure && error.kind == .full {
                _ = await commit(arrival.transfer, file)
            }
            throw UploadError(fault)
        }
        guard arrival.end == .clean else {
            if let fault = await commit(arrival.transfer, file) { throw UploadError(fault) }
            return try answer(to: arrival)
        }
        switch length(append, arrival.transfer.position) {
        case .open:
            if let fault = await commit(arrival.transfer, file) { throw UploadError(fault) }
            return .held(record.offset)
        case .wrong:
            if let fault = await commit(arrival.transfer, file) { throw UploadError(fault) }
            throw .lengthMismatch(
                "The body ended before the length of the upload; send the missing bytes from the offset that HEAD reports."
            )
        case .ends(let length):
            try await complete(arrival.transfer, length: length, file)
            return nil
        }
    }

    /// Fixes the length, makes everything durable and begins to finish (§1.4).
    func complete(
        _ transfer: TransferProgress, length: Int64, _ file: StagedFile?
    ) async throws(UploadError) {
        let fault = await commit(transfer, file) { record in
            record.length = length
            record.state = .finalizing
        }
        if let fault { throw UploadError(fault) }
    }

    /// The answer to a body that did not end cleanly; its bytes are dealt with already.
    func answer(to arrival: ReceivedBody) throws(UploadError) -> AppendOutcome {
        switch arrival.end {
        case .clean: return .held(record.offset)
        case .over: throw arrival.overflow
        case .broken(.stalled): throw .stalled
        case .broken(.refused(let refusal)): throw .invalid(refusal.reason)
        case .broken(.interrupted): return .dropped
        case .broken(.superseded):
            if isStopping { throw .stalled }
            return .dropped
        }
    }

    private enum Extent {
        case open
        case wrong
        case ends(Int64)
    }

    /// What a clean end at a position says about the length of the content.
    private func length(_ append: AppendRequest, _ position: Int64) -> Extent {
        let held = max(position, record.offset)
        switch (append.end, record.length) {
        case (.never, _): return .open
        case (.atLength, let length?), (.atCleanEnd, let length?):
            return held == length ? .ends(length) : .open
        case (.atLength, nil): return .open
        case (.always, let length?): return position == length ? .ends(length) : .wrong
        case (.atCleanEnd, nil), (.always, nil):
            return position >= record.offset ? .ends(position) : .wrong
        }
    }
}

extension Upload {
    /// Compares a body with the digests stated of it, in front of it or behind it (§4.4, §6.8).
    ///
    /// - Throws: ``UploadError/checksumMismatch``, or what is wrong with the trailers.
    func verify(
        _ append: AppendRequest, _ arrival: ReceivedBody, _ body: any RequestBody,
        _ file: StagedFile
    ) async throws(UploadError) {
        if arrival.isWrong(append.bodyDigests) { throw .checksumMismatch }
        guard let trailer = append.trailer else { return }
        let range = append.first..<arrival.transfer.written
        for stated in try trailer(await body.trailer) {
            guard try await digest(stated.algorithm, of: file, range) == stated.value else {
                throw .checksumMismatch
            }
        }
    }

    /// The digest of bytes just written.
    ///
    /// Only a trailer says which one is wanted, so they are read again, out of the page cache; piece
    /// by piece, because others wait for the disk's queue.
    private func digest(
        _ algorithm: DigestAlgorithm, of file: StagedFile, _ range: Range<Int64>
    ) async throws(UploadError) -> [UInt8] {
        var running = algorithm.kind.init()
        var place = range.lowerBound
        while place < range.upperBound {
            let (so, start) = (running, place)
            let count = Int(min(range.upperBound - start, 256 << 10))
            do throws(DiskError) {
                running = try await queue.run { () throws(DiskError) in
                    var running = so
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
            place += Int64(count)
        }
        return running.digest
    }
}
