internal import HTTP
internal import HTTPClient
internal import Locking

extension ObjectStore {
    /// How long an answer may be that is read as a whole: a page of 1000 parts takes 300 KiB.
    private static let longestAnswer = 4 << 20
    /// How much is read of an answer that says no.
    private static let longestRefusal = 64 << 10

    /// One connection may have died unnoticed; a second silence is the store's, and whoever waits is told of
    /// it while he still listens.
    private static let mostSilences = 2

    /// Sends a request until it succeeds or fails for good.
    ///
    /// - Parameter take: Makes something of an answer in 200…299; what it throws decides over another
    ///   attempt like every other fault.
    func perform<Result: Sendable>(
        _ request: StoreRequest,
        _ take: (ClientStream) async throws(Fault) -> Result
    ) async throws(ObjectStoreError) -> Result {
        var attempts = 1
        var silences = 0
        var isCorrected = false
        while true {
            let fault: Fault
            do throws(Fault) {
                return try await attempt(request, take)
            } catch {
                fault = error
            }
            if let storeTime = fault.storeTime, !isCorrected {
                isCorrected = true
                let difference = storeTime - clock.now()
                offset.withLock { $0 = difference }
                continue
            }
            if fault.isSilence { silences += 1 }
            guard fault.isPassing, attempts < settings.attempts, silences < Self.mostSilences
            else { throw fault.error }
            try await wait(after: attempts, in: request.operation)
            attempts += 1
        }
    }

    /// Waits before another attempt.
    func wait(after attempts: Int, in operation: String) async throws(ObjectStoreError) {
        let backoff = Backoff(first: settings.firstWait, longest: settings.longestWait)
        await clock.sleep(backoff.wait(after: attempts, random: clock.random))
        guard !Task.isCancelled else {
            throw ObjectStoreError(.cancelled, operation, words: "nobody waits for it any more")
        }
    }

    /// Sends a request that is answered with a document, which is read by `read`.
    ///
    /// A 200 can hold an error: stores answer before they know (§10.3).
    func document<Document: Sendable>(
        _ request: StoreRequest, _ read: (_ body: [UInt8]) throws(XMLFault) -> Document
    ) async throws(ObjectStoreError) -> Document {
        try await perform(request) { stream throws(Fault) in
            let body = try await whole(stream, atMost: Self.longestAnswer, in: request.operation)
            if ErrorDocument(body) != nil {
                throw Fault(
                    status: stream.status, fields: stream.fields, body: body,
                    in: request.operation, at: address)
            }
            do throws(XMLFault) {
                return try read(body)
            } catch {
                throw Fault(error, status: stream.status, in: request.operation)
            }
        }
    }

    /// Sends a request whose answer says all in its head.
    func fields(_ request: StoreRequest) async throws(ObjectStoreError) -> Fields {
        try await perform(request) { stream throws(Fault) in
            _ = try await whole(stream, atMost: Self.longestAnswer, in: request.operation)
            return stream.fields
        }
    }

    private func attempt<Result: Sendable>(
        _ request: StoreRequest, _ take: (ClientStream) async throws(Fault) -> Result
    ) async throws(Fault) -> Result {
        let stream: ClientStream
        do throws(HTTPClientError) {
            stream = try await (request.isDownload ? downloads : client).open(signed(request))
        } catch {
            throw Fault(error, in: request.operation)
        }
        guard (200..<300).contains(stream.status) else {
            let body = try await beginning(of: stream, in: request.operation)
            throw Fault(
                status: stream.status, fields: stream.fields, body: body, in: request.operation,
                at: address)
        }
        return try await take(stream)
    }

    private func whole(
        _ stream: ClientStream, atMost limit: Int, in operation: String
    ) async throws(Fault) -> [UInt8] {
        var body: [UInt8] = []
        while let piece = try await piece(of: stream, in: operation) {
            body += piece
            guard body.count <= limit else {
                stream.cancel()
                throw Fault(.refused(at: limit), status: stream.status, in: operation)
            }
        }
        return body
    }

    /// What a refusal says; of a longer one its document cannot be read, and its status decides.
    private func beginning(
        of stream: ClientStream, in operation: String
    ) async throws(Fault) -> [UInt8] {
        var body: [UInt8] = []
        while body.count <= Self.longestRefusal,
            let piece = try await piece(of: stream, in: operation)
        {
            body += piece
        }
        stream.cancel()
        return body
    }

    private func piece(
        of stream: ClientStream, in operation: String
    ) async throws(Fault) -> [UInt8]? {
        do throws(HTTPClientError) {
            return try await stream.next()
        } catch {
            throw Fault(error, in: operation)
        }
    }
}
