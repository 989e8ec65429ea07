internal import Bytes
internal import HTTP
internal import HTTPClient
internal import SystemSupport

/// A client for one bucket of an S3-compatible store, or for the part of it below a prefix
/// (§10.2–10.4).
///
/// Every operation retries temporary failures with growing delays; an error that it throws is
/// final. Copies of this value share connections, credentials and the store's clock offset.
public struct ObjectStore: Sendable {
    let settings: ObjectStoreSettings
    let address: BucketAddress
    /// The credentials, which ``replaceCredentials(_:)`` changes.
    private let credentials: Locked<Credentials>
    /// For requests that end with the store's response.
    private let client: HTTPClient
    /// For downloads, which are read at their readers' pace: slow readers must not hold connections
    /// that other requests need.
    private let downloads: HTTPClient
    let clock: ObjectStoreClock
    /// Milliseconds by which the store's clock is ahead of this machine's; 0 until the store
    /// rejects a request for it.
    let offset: Locked<Int64>
    /// Open multipart uploads for which it is known whether their parts have a CRC-32C.
    let checksummedUploads: Locked<[String: Bool]> = Locked([:])
    /// For hashing bodies, which keeps a core busy and blocks on the disk.
    private let hashing = WorkQueue("parley.store")

    /// The most open downloads; further ones wait.
    static let maximumDownloads = 256

    /// Creates a client; sends nothing, see ``check()``.
    ///
    /// - Throws: `invalid` with the first invalid setting; `unreachable` if libcurl is not
    ///   installed.
    public init(_ settings: ObjectStoreSettings, clock: ObjectStoreClock) throws(ObjectStoreError) {
        if let invalid = settings.invalidSettings().first {
            throw ObjectStoreError(
                .invalid, "settings", words: "\(invalid.setting) \(invalid.rule)")
        }
        guard let address = BucketAddress(settings) else {
            throw ObjectStoreError(.invalid, "settings", words: "endpoint has no host")
        }
        self.settings = settings
        self.address = address
        self.clock = clock
        credentials = Locked(settings.credentials)
        offset = Locked(0)
        var clientSettings = HTTPClientSettings()
        clientSettings.caBundle = settings.authorities
        do throws(HTTPClientError) {
            client = try HTTPClient(clientSettings)
            clientSettings.connectionsPerHost = Self.maximumDownloads
            downloads = try HTTPClient(clientSettings)
        } catch {
            throw ObjectStoreError(.unreachable, "settings", words: error.description)
        }
    }

    /// Uses other credentials from now on, in all copies: session credentials expire.
    public func replaceCredentials(_ credentials: Credentials) {
        self.credentials.withLock { known in known = credentials }
    }

    var signer: RequestSigner {
        RequestSigner(credentials: credentials.withLock { $0 }, region: settings.region)
    }

    /// The key with the store's prefix.
    func fullKey(_ key: ObjectKey) -> String { settings.prefix + key.text }

    /// The key without the store's prefix; `nil` for keys outside it. Not every store applies the
    /// requested prefix.
    func key(_ whole: String, below folder: String = "") -> ObjectKey? {
        guard whole.utf8.starts(with: (settings.prefix + folder).utf8) else { return nil }
        return ObjectKey(String(Substring(whole.utf8.dropFirst(settings.prefix.utf8.count))))
    }

    /// The store's current time in milliseconds since 1970, as far as known.
    func now() -> Int64 { clock.now() + offset.withLock { $0 } }
    /// Checks access with a small request, so that a missing bucket, invalid credentials, a wrong
    /// region, an untrusted certificate or a wrong clock shows at the start.
    ///
    /// It needs the permission to list multipart uploads, as cleaning up does.
    ///
    /// - Returns: The milliseconds by which the store's clock is ahead, if the store rejected a
    ///   request for it; otherwise 0.
    public func check() async throws(ObjectStoreError) -> Int64 {
        _ = try await page("check", after: nil, atMost: 1)
        return offset.withLock { $0 }
    }

    /// The largest response that is read as a whole, in bytes: a page of 1000 parts has 300 KiB.
    private static let maximumResponseSize = 4 << 20
    /// Bytes that are read of an error response.
    private static let maximumErrorSize = 64 << 10

    /// One connection may have broken unnoticed; a second timeout is that of the store, and the caller
    /// should learn of it soon.
    private static let maximumTimeouts = 2

    /// Sends a request, with retries.
    ///
    /// - Parameter take: Reads a response with status 200…299; if it throws, the failure may be
    ///   retried like any other.
    func perform<Result: Sendable>(
        _ request: StoreRequest,
        _ take: (ClientResponseStream) async throws(AttemptFailure) -> Result
    ) async throws(ObjectStoreError) -> Result {
        var attempts = 1
        var timeouts = 0
        var isCorrected = false
        while true {
            let fault: AttemptFailure
            do throws(AttemptFailure) {
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
            if fault.isTimeout { timeouts += 1 }
            guard fault.isRetryable, attempts < settings.attempts, timeouts < Self.maximumTimeouts
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
            throw ObjectStoreError(.cancelled, operation, words: "the task was cancelled")
        }
    }

    /// Sends a request and reads the document in its response with `read`.
    ///
    /// A response with status 200 can hold an error: stores answer before they know the result
    /// (§10.3).
    func document<Document: Sendable>(
        _ request: StoreRequest, _ read: (_ body: [UInt8]) throws(XMLError) -> Document
    ) async throws(ObjectStoreError) -> Document {
        try await perform(request) { stream throws(AttemptFailure) in
            let body = try await whole(
                stream, atMost: Self.maximumResponseSize, in: request.operation)
            if ErrorDocument(body) != nil {
                throw AttemptFailure(
                    status: stream.status, fields: stream.fields, body: body,
                    in: request.operation, at: address)
            }
            do throws(XMLError) {
                return try read(body)
            } catch {
                throw AttemptFailure(error, status: stream.status, in: request.operation)
            }
        }
    }

    /// Sends a request and returns the headers of its response.
    func fields(_ request: StoreRequest) async throws(ObjectStoreError) -> Fields {
        try await perform(request) { stream throws(AttemptFailure) in
            _ = try await whole(stream, atMost: Self.maximumResponseSize, in: request.operation)
            return stream.fields
        }
    }

    private func attempt<Result: Sendable>(
        _ request: StoreRequest,
        _ take: (ClientResponseStream) async throws(AttemptFailure) -> Result
    ) async throws(AttemptFailure) -> Result {
        let stream: ClientResponseStream
        do throws(HTTPClientError) {
            stream = try await (request.isDownload ? downloads : client).open(signed(request))
        } catch {
            throw AttemptFailure(error, in: request.operation)
        }
        guard (200..<300).contains(stream.status) else {
            let body = try await beginning(of: stream, in: request.operation)
            throw AttemptFailure(
                status: stream.status, fields: stream.fields, body: body, in: request.operation,
                at: address)
        }
        return try await take(stream)
    }

    private func whole(
        _ stream: ClientResponseStream, atMost limit: Int, in operation: String
    ) async throws(AttemptFailure) -> [UInt8] {
        var body: [UInt8] = []
        while let piece = try await piece(of: stream, in: operation) {
            body += piece
            guard body.count <= limit else {
                stream.cancel()
                throw AttemptFailure(.refused(at: limit), status: stream.status, in: operation)
            }
        }
        return body
    }

    /// The start of an error response; a longer document cannot be read, so its status decides.
    private func beginning(
        of stream: ClientResponseStream, in operation: String
    ) async throws(AttemptFailure) -> [UInt8] {
        var body: [UInt8] = []
        while body.count <= Self.maximumErrorSize,
            let piece = try await piece(of: stream, in: operation)
        {
            body += piece
        }
        stream.cancel()
        return body
    }

    private func piece(
        of stream: ClientResponseStream, in operation: String
    ) async throws(AttemptFailure) -> [UInt8]? {
        do throws(HTTPClientError) {
            return try await stream.next()
        } catch {
            throw AttemptFailure(error, in: operation)
        }
    }

    /// Bytes of a stored body that are read at once.
    private static let piece = 256 << 10
    /// Bodies in memory up to this many bytes are hashed on the calling thread.
    private static let short = 16 << 10

    /// The checksums of a body: the SHA-256, unless the caller has it, and a CRC-32C if wanted.
    func sums(
        of body: ClientBody, sha256: [UInt8]?, hasChecksums: Bool = false, in operation: String
    ) async throws(ObjectStoreError) -> BodyChecksums {
        let known: PayloadDigest? =
            settings.leavesPayloadUnsigned
            ? .unsigned : sha256.map { sha256 in PayloadDigest.sha256(String(hexadecimal: sha256)) }
        let start = BodyHasher(known: known, hasChecksums: hasChecksums)
        if known != nil, !hasChecksums { return start.end }
        switch body {
        case .none: return start.end
        case .bytes(let bytes) where bytes.count <= Self.short: return start.over(bytes)
        case .bytes(let bytes): return await hashing.run { start.over(bytes) }
        case .stored(let count, let read):
            return try await hashing.run { () throws(ObjectStoreError) in
                try Self.sums(start, of: count, read, in: operation)
            }
        }
    }

    private static func sums(
        _ start: BodyHasher, of count: Int64, _ read: (Int, Int64) throws -> [UInt8],
        in operation: String
    ) throws(ObjectStoreError) -> BodyChecksums {
        var sums = start
        var position: Int64 = 0
        while position < count {
            let bytes: [UInt8]
            do {
                bytes = try read(Int(min(count - position, Int64(piece))), position)
            } catch {
                throw ObjectStoreError(.unreadableBody, operation, words: "\(error)")
            }
            guard !bytes.isEmpty else {
                throw ObjectStoreError(
                    .unreadableBody, operation,
                    words: "the body ends at \(position) of \(count) bytes")
            }
            sums.update(bytes)
            position += Int64(bytes.count)
        }
        return sums.end
    }

    /// The header that requests checksums for an upload's parts (§10.4).
    static let checksumAlgorithm = (name: "x-amz-checksum-algorithm", value: "CRC32C")

    /// Whether the parts of an upload have checksums: all or none, as decided when it was created
    /// (§10.4).
    ///
    /// Another process with other settings may have created it, so it is queried in the store.
    func hasChecksums(_ key: ObjectKey, _ upload: String) async throws(ObjectStoreError) -> Bool {
        guard settings.sendsPartChecksums else { return false }
        if let known = checksummedUploads.withLock({ checksummedUploads in
            checksummedUploads[upload]
        }) {
            return known
        }
        let hasChecksums = try await page(key, upload, after: 0, atMost: 1).hasChecksums
        note(upload, hasChecksums: hasChecksums)
        return hasChecksums
    }

    /// Stores whether an upload has checksums; `nil` when it has ended.
    ///
    /// Uploads that other processes end are not removed, so a full cache is cleared; querying again
    /// costs one request.
    func note(_ upload: String, hasChecksums: Bool?) {
        checksummedUploads.withLock { checksummedUploads in
            if checksummedUploads.count >= Self.checksumCacheLimit { checksummedUploads = [:] }
            checksummedUploads[upload] = hasChecksums
        }
    }

    /// The most remembered uploads.
    static let checksumCacheLimit = 1000

    /// The parts with the checksums that the store has for them.
    func addingChecksums(
        _ parts: [ObjectPart], of key: ObjectKey, _ upload: String
    ) async throws(ObjectStoreError) -> [ObjectPart] {
        guard try await hasChecksums(key, upload) else { return parts }
        var sums: [Int: String] = [:]
        for part in try await self.parts(key, upload: upload) { sums[part.number] = part.sum }
        return parts.map { part in
            var part = part
            part.sum = sums[part.number]
            return part
        }
    }
}
