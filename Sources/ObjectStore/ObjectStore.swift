internal import Bytes
internal import HTTP
internal import HTTPClient
internal import SystemSupport

/// One bucket of a store that speaks Amazon's S3, or the part of it below a prefix (§10.2–10.4).
///
/// Every operation is tried again, with growing waits, while the store or the way to it fails for the
/// moment; what it throws is final for this call. Copies share connections and what is known of the
/// store's clock.
public struct ObjectStore: Sendable {
    let settings: ObjectStoreSettings
    let address: BucketAddress
    /// Who asks; others may do so later, see ``replaceCredentials(_:)``.
    private let credentials: Locked<Credentials>
    /// For requests that are over when the store has answered.
    let client: HTTPClient
    /// For answers that are taken at their readers' pace: however slow these are, they hold no connection
    /// that anything else waits for.
    let downloads: HTTPClient
    let clock: ObjectStoreClock
    /// By how many milliseconds the store's clock is ahead of ours; 0 until it complains.
    let offset: Locked<Int64>
    /// Open multipart uploads of which we know whether their parts carry their CRC-32C.
    let checksummedUploads: Locked<[String: Bool]> = Locked([:])
    /// Where bodies are hashed, which keeps a core busy and waits for the disk.
    let hashing = WorkQueue("parley.store")

    /// How many streams may be open at once; the next one waits for the end of another.
    static let maximumDownloads = 256

    /// Takes settings without a mistake; asks the store nothing, see ``check()``.
    ///
    /// - Throws: `invalid` with the first mistake; `unreachable` where libcurl is not installed.
    public init(_ settings: ObjectStoreSettings, clock: ObjectStoreClock) throws(ObjectStoreError) {
        if let mistake = settings.invalidSettings().first {
            throw ObjectStoreError(
                .invalid, "settings", words: "\(mistake.setting) \(mistake.rule)")
        }
        guard let address = BucketAddress(settings) else {
            throw ObjectStoreError(.invalid, "settings", words: "endpoint names no place")
        }
        self.settings = settings
        self.address = address
        self.clock = clock
        credentials = Locked(settings.credentials)
        offset = Locked(0)
        var manner = HTTPClientSettings()
        manner.caBundle = settings.authorities
        do throws(HTTPClientError) {
            client = try HTTPClient(manner)
            manner.connectionsPerHost = Self.maximumDownloads
            downloads = try HTTPClient(manner)
        } catch {
            throw ObjectStoreError(.unreachable, "settings", words: error.description)
        }
    }

    /// Asks with other credentials from now on, in all copies: those of a session end with it.
    public func replaceCredentials(_ credentials: Credentials) {
        self.credentials.withLock { known in known = credentials }
    }

    var signer: RequestSigner {
        RequestSigner(credentials: credentials.withLock { $0 }, region: settings.region)
    }

    /// The whole key, as the store knows it.
    func fullKey(_ key: ObjectKey) -> String { settings.prefix + key.text }

    /// What a key of the store's is called here; `nil` for others' keys. A store may look at the prefix
    /// it is asked for, or not.
    func key(_ whole: String, below folder: String = "") -> ObjectKey? {
        guard whole.utf8.starts(with: (settings.prefix + folder).utf8) else { return nil }
        return ObjectKey(String(Substring(whole.utf8.dropFirst(settings.prefix.utf8.count))))
    }

    /// Now, as far as we know by the store's clock, in milliseconds since 1970.
    func now() -> Int64 { clock.now() + offset.withLock { $0 } }
}

extension ObjectStore {
    /// Asks the store for something small, so that a server that starts with a missing bucket, wrong
    /// credentials, a wrong region, a certificate nobody believes or a clock that is off says so at once.
    ///
    /// It needs the right to list multipart uploads, as cleaning up does.
    ///
    /// - Returns: By how many milliseconds the store's clock is ahead of ours, where the store complained
    ///   and its time was taken over; 0 where it did not.
    public func check() async throws(ObjectStoreError) -> Int64 {
        _ = try await page("check", after: nil, atMost: 1)
        return offset.withLock { $0 }
    }
}

extension ObjectStore {
    /// How long an answer may be that is read as a whole: a page of 1000 parts takes 300 KiB.
    private static let maximumResponseSize = 4 << 20
    /// How much is read of an answer that says no.
    private static let maximumErrorSize = 64 << 10

    /// One connection may have died unnoticed; a second silence is the store's, and whoever waits is told of
    /// it while he still listens.
    private static let maximumTimeouts = 2

    /// Sends a request until it succeeds or fails for good.
    ///
    /// - Parameter take: Makes something of an answer in 200…299; what it throws decides over another
    ///   attempt like every other fault.
    func perform<Result: Sendable>(
        _ request: StoreRequest,
        _ take: (ClientResponseStream) async throws(AttemptFailure) -> Result
    ) async throws(ObjectStoreError) -> Result {
        var attempts = 1
        var silences = 0
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
            if fault.isTimeout { silences += 1 }
            guard fault.isRetryable, attempts < settings.attempts, silences < Self.maximumTimeouts
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

    /// Sends a request whose answer says all in its head.
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

    /// What a refusal says; of a longer one its document cannot be read, and its status decides.
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
}

extension ObjectStore {
    /// How much of a stored body is read at once.
    private static let piece = 256 << 10
    /// Bodies in memory up to this size are hashed where they are.
    private static let short = 16 << 10

    /// What goes with a body: the SHA-256 the caller knows, or else reads it for, and a CRC-32C where
    /// it is wanted.
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
}

// Parts that carry their CRC-32C (§10.4).
extension ObjectStore {
    /// What the store is told when such an upload begins.
    static let sum = (name: "x-amz-checksum-algorithm", value: "CRC32C")

    /// Whether the parts of an upload carry their sums: all do or none, as was said when it began.
    ///
    /// That may have been another process, with other settings; the store knows.
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

    /// Remembers it of an upload; `nil` for one that is over.
    ///
    /// Of those that others end nobody tells us, so when there are many all are forgotten: to ask again
    /// is one request.
    func note(_ upload: String, hasChecksums: Bool?) {
        checksummedUploads.withLock { checksummedUploads in
            if checksummedUploads.count >= Self.checksumCacheLimit { checksummedUploads = [:] }
            checksummedUploads[upload] = hasChecksums
        }
    }

    /// Of how many uploads it is remembered, at most.
    static let checksumCacheLimit = 1000

    /// Parts with the sums they carried.
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
