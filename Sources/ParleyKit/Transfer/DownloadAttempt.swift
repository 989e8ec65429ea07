internal import HTTP
internal import JSON
internal import Messaging

/// One attempt to download a part: does what its ``DownloadMachine`` decides.
struct DownloadAttempt {
    private let center: TransferCenter
    private let row: TransferRow
    private let transfer: Transfer
    private var engine: SyncEngine { center.engine }
    private var store: Store { center.store }

    init(_ center: TransferCenter, _ row: TransferRow, _ transfer: Transfer) {
        self.center = center
        self.row = row
        self.transfer = transfer
    }

    /// An answer whose body is received.
    private struct Body {
        let stream: any TransportStream
        /// The SHA-256 of the whole content, as the server states it.
        let digest: [UInt8]?
    }

    /// Runs until the download has ended, or a delay or a resumption must come first.
    func run(_ machine: inout DownloadMachine) async -> TransferCenter.Attempt {
        do throws(ParleyError) {
            guard
                try await center.folder.freeSpace() >= engine.configuration.minimumFreeSpace
            else { return .diskFull }
            let name = row.state.file ?? center.folder.newFile()
            let part = row.part
            try await store.write { transaction in
                try transaction.beginDownload(of: part, into: name)
            }
            let file = try await center.folder.stage(name)
            let start = try await file.size()
            _ = machine.handle(.resume)
            var etag = row.state.etag
            let attempt: TransferCenter.Attempt
            do throws(ParleyError) {
                attempt = try await run(&machine, file, start, &etag)
            } catch {
                await storeProgress(machine, file, etag)
                throw error
            }
            await storeProgress(machine, file, etag)
            return attempt
        } catch {
            switch error.code {
            case .cancelled, .closed:
                _ = machine.handle(.pause)
                return .stopped
            case .diskFull: return .diskFull
            default: return .retry(seconds: nil, hasProgressed: false)
            }
        }
    }

    private func storeProgress(
        _ machine: DownloadMachine, _ file: ContentFolder.PartialFile, _ etag: String?
    ) async {
        guard machine.end == nil, let held = try? await file.size() else { return }
        let part = row.part
        // It only shows how far an unfinished download is: the next attempt asks the file itself.
        try? await store.write { transaction in
            try transaction.storeDownload(of: part, held: held, etag: etag)
        }
    }

    private func run(
        _ machine: inout DownloadMachine, _ file: ContentFolder.PartialFile, _ start: Int64,
        _ etag: inout String?
    ) async throws(ParleyError) -> TransferCenter.Attempt {
        var body: Body?
        var action = machine.handle(.start(have: start))
        while true {
            switch action {
            case .locate: action = machine.handle(try await locate())
            case .get(let url, let position):
                let (event, opened, tag) = try await open(url, from: position, etag)
                (body, etag) = (opened, tag ?? etag)
                action = machine.handle(event)
            case .receive(let position):
                guard let opened = body else { return .retry(seconds: nil, hasProgressed: false) }
                try await file.truncate(to: position)
                let have = try await receive(opened, into: file, from: position)
                action = machine.handle(.ended(have: have))
            case .verify:
                guard let digest = body?.digest else {
                    action = machine.handle(.verified(true))
                    continue
                }
                action = machine.handle(.verified(try await file.digest() == digest))
            case .complete:
                try await complete(file)
                return .ended(nil)
            case .fail(let error):
                let part = row.part
                try await store.write { transaction in
                    try transaction.endDownload(of: part, keepsFile: false)
                }
                engine.failures.publish(OperationFailure(object: .part(part), error: error))
                return .ended(error)
            case .wait(let seconds):
                return .retry(seconds: seconds, hasProgressed: machine.have > start)
            case .stop: return .stopped
            }
        }
    }

    private func complete(_ file: ContentFolder.PartialFile) async throws(ParleyError) {
        try await file.publish()
        let part = row.part
        let exists = try await store.write { transaction in
            try transaction.completeDownload(of: part, now: Clock.now)
        }
        guard exists else { return await center.folder.remove([file.text]) }
        try await center.enforceCapacity()
    }

    private func locate() async throws(ParleyError) -> DownloadMachine.Event {
        guard let content = row.state.content.flatMap({ Messaging.Content.ID(bytes: $0) }) else {
            return .gone
        }
        let response: TransportResponse
        do throws(ParleyError) {
            response = try await engine.send(
                TransportRequest(
                    method: .get, path: "/content/\(content.uuid)",
                    headers: [("Accept", SyncEngine.accept)]))
        } catch {
            return try broken(error)
        }
        let body = (try? JSONDocument(response.body))?.root
        if response.status == 200, let url = body?["download_url"]?.string { return .located(url) }
        let isGone =
            [403, 404, 410].contains(response.status)
            && ParleyError(status: response.status, body).server != nil
        return isGone
            ? .gone : .broken(retryAfter: response.headers.retryAfter)
    }

    private func open(
        _ url: String, from position: Int64, _ etag: String?
    ) async throws(ParleyError) -> (DownloadMachine.Event, Body?, String?) {
        var request = TransportRequest(method: .get, path: url)
        request.isStream = true
        if position > 0 {
            request.headers.append(("Range", "bytes=\(position)-"))
            if let etag { request.headers.append(("If-Range", etag)) }
        }
        let stream: any TransportStream
        do throws(ParleyError) {
            stream = try await engine.transport.open(request)
        } catch {
            return (try broken(error), nil, nil)
        }
        let event = DownloadMachine.Event(
            status: stream.status, stream.headers, from: position, size: row.size)
        guard case .began = event else {
            stream.cancel()
            return (event, nil, nil)
        }
        return (
            event, Body(stream: stream, digest: reprDigest(stream.headers["repr-digest"])),
            stream.headers["etag"]
        )
    }

    /// Writes what arrives.
    ///
    /// - Returns: The number of bytes that are here, at the end of the body or where it broke.
    private func receive(
        _ body: Body, into file: ContentFolder.PartialFile, from start: Int64
    ) async throws(ParleyError) -> Int64 {
        defer { body.stream.cancel() }
        var position = start
        transfer.report(position)
        while true {
            let bytes: [UInt8]?
            do throws(ParleyError) {
                bytes = try await body.stream.next()
            } catch {
                _ = try broken(error)
                return position
            }
            guard let bytes, position <= row.size else { return position }
            try await file.write(bytes, at: position)
            position += Int64(bytes.count)
            transfer.report(position)
        }
    }

    /// - Throws: `cancelled`.
    private func broken(_ error: ParleyError) throws(ParleyError) -> DownloadMachine.Event {
        if error.code == .cancelled || Task.isCancelled { throw .cancelled }
        return .broken(retryAfter: nil)
    }
}
