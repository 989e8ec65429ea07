internal import Blobs
internal import Digests
internal import HTTP
internal import Locking

extension Upload {
    /// The one append procedure (§4.1).
    func append(
        _ append: Append, from body: any RequestBody
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
    private func passOver(_ append: Append, _ body: any RequestBody) async {
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
            let transfer = Transfer(
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
        of append: Append, within reach: ClosedRange<Int64>?
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
        _ append: Append, from body: any RequestBody
    ) async throws(UploadError) -> AppendOutcome? {
        let file = try await openFile(for: append)
        var transfer = Transfer(
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
        _ append: Append, _ arrival: Arrival, _ body: any RequestBody, _ file: StagedFile,
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
    private func amend(for append: Append) throws(UploadError) {
        record.declared = try record.declared.merging(append.declared)
        if record.mediaType == nil, let type = append.mediaType {
            record.mediaType = MediaType(untrusted: type).text
        }
        if record.length == nil { record.length = append.total }
    }
}
