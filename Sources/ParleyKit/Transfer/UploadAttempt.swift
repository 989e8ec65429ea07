internal import Blobs
internal import HTTP
internal import Transfers

/// One attempt to upload a part: does what its ``UploadMachine`` decides.
struct UploadAttempt: Sendable {
    private let center: TransferCenter
    private let row: TransferRow
    private let transfer: Transfer
    private var engine: SyncEngine { center.engine }

    init(_ center: TransferCenter, _ row: TransferRow, _ transfer: Transfer) {
        self.center = center
        self.row = row
        self.transfer = transfer
    }

    /// Runs until the upload has ended, or a delay or a resumption must come first.
    func run(_ machine: inout UploadMachine) async -> TransferCenter.Attempt {
        let before = machine.offset
        do throws(ParleyError) {
            guard let name = row.state.file, let file = try await center.folder.open(name) else {
                return try await fail(
                    ParleyError(
                        .contentMissing, "The file of the part \(row.part) is missing."))
            }
            try await center.background?.settle(row.part)
            var action = machine.handle(.resume)
            while true {
                switch action {
                case .complete:
                    let part = row.part
                    try await center.store.write { transaction in
                        try transaction.completeUpload(of: part, now: Clock.now)
                    }
                    return .ended(nil)
                case .fail(let reason): return try await fail(reason.error)
                case .wait(let seconds):
                    return .retry(seconds: seconds, hasProgressed: machine.offset > before)
                case .stop: return .stopped
                case .create, .query, .send, .delete:
                    let (location, offset) = (machine.location, machine.offset)
                    let event = try await perform(action, file)
                    action = machine.handle(event)
                    guard machine.location != location || machine.offset != offset else { continue }
                    let (state, part) = (machine, row.part)
                    try await center.store.write { transaction in
                        try transaction.store(state, of: part)
                    }
                    transfer.report(machine.offset)
                }
            }
        } catch {
            if error.code == .cancelled || error.code == .closed {
                _ = machine.handle(.pause)
                return .stopped
            }
            return .retry(seconds: nil, hasProgressed: false)
        }
    }

    private func fail(_ error: ParleyError) async throws(ParleyError) -> TransferCenter.Attempt {
        let part = row.part
        let failure = try await center.store.write { transaction in
            try transaction.failUpload(of: part, error)
        }
        if let failure { engine.failures.publish(failure) }
        return .ended(error)
    }

    /// - Throws: `cancelled`, and errors of this device.
    private func perform(
        _ action: UploadMachine.Action, _ file: BlobFile
    ) async throws(ParleyError) -> UploadMachine.Event {
        let response: TransportResponse
        do throws(ParleyError) {
            response = try await send(action, file)
        } catch {
            if error.code == .cancelled || Task.isCancelled { throw .cancelled }
            if case .delete = action { return .deleted }
            return .broken(retryAfter: nil)
        }
        if case .delete = action { return .deleted }
        var digest: [UInt8]?
        if case .send = action, response.status < 300 {
            digest = try await center.folder.digest(of: file)
        }
        return UploadMachine.Event(response, to: action, digest: digest)
    }

    private func send(
        _ action: UploadMachine.Action, _ file: BlobFile
    ) async throws(ParleyError) -> TransportResponse {
        switch action {
        case .create:
            return try await engine.send(
                TransportRequest(
                    method: .post, path: "/content",
                    headers: [
                        ("Accept", SyncEngine.accept), ("Upload-Content-Type", row.mimeType),
                        ("Upload-Content-Length", "\(row.size)"),
                    ], body: []))
        case .query(let location):
            return try await engine.transport.send(
                TransportRequest(method: .head, path: location.url))
        case .delete(let location):
            return try await engine.transport.send(
                TransportRequest(method: .delete, path: location.url))
        case .send(let location, let offset):
            let range = offset < row.size ? "\(offset)-\(row.size - 1)" : "*"
            var request = TransportRequest(
                method: .put, path: location.url,
                headers: [("Content-Range", "bytes \(range)/\(row.size)")], body: [])
            if offset < row.size {
                request.stored = TransportRequest.StoredBody(
                    count: row.size - offset,
                    file: offset == 0 ? row.state.file.flatMap(center.folder.path(of:)) : nil,
                    read: { count, position in try file.read(count, at: offset + position) },
                    onSent: { [transfer] count in transfer.report(offset + count) })
                request.isStream = true
                if let background = center.background {
                    return try await background.put(request, of: row.part)
                }
            }
            return try await engine.transport.send(request)
        case .complete, .fail, .wait, .stop: throw .cancelled
        }
    }
}
