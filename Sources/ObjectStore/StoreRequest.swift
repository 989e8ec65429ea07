internal import Bytes
internal import HTTP
internal import HTTPClient

/// A request to the store, before it is signed.
struct StoreRequest: Sendable {
    /// As §10.3 calls it.
    let operation: String
    let method: Method
    /// The whole key; `nil` for the bucket itself.
    let key: String?
    var query: [(name: String, value: String)] = []
    var fields: [(name: String, value: String)] = []
    var body: ClientBody = .none
    var payload: PayloadDigest = .empty
    /// Whether its answer is read at the pace of somebody who may be slow.
    var isDownload = false
    /// How long nothing may move: as long as the store works without a word.
    var stallTimeout: Duration = .seconds(30)
    /// Told how many bytes of the body went out.
    var onBytesSent: (@Sendable (Int64) -> Void)?

    /// For what a store does with gigabytes before it answers, and not every store sends white space.
    static let longWork: Duration = .seconds(300)

    init(_ operation: String, _ method: Method, _ key: String?) {
        self.operation = operation
        self.method = method
        self.key = key
    }
}

extension ObjectStore {
    /// The request as it is sent at this moment.
    func signed(_ request: StoreRequest) -> ClientRequest {
        let path = address.path(of: request.key)
        let query = CanonicalRequest.query(request.query)
        let fields = signer.fields(
            signing: request.method, host: address.host, path: path, query: query,
            fields: request.fields, payload: request.payload, at: SigningTime(now()))
        var sent = ClientRequest(
            request.method, address.url(path: path, query: query), fields: fields,
            body: request.body)
        sent.stallTimeout = request.stallTimeout
        sent.onBytesSent = request.onBytesSent
        return sent
    }
}

/// What is sent beside a body so that the store can verify it.
struct BodyChecksums: Sendable {
    let payload: PayloadDigest
    /// Its CRC-32C in base64, where it was asked for.
    let crc32c: String?
}

/// The sums of a body while it is read for them.
struct BodyHasher: Sendable {
    private let known: PayloadDigest?
    private var sha256 = SHA256()
    private var crc32c: CRC32C?

    /// - Parameters:
    ///   - known: What is known of the body, and is not to be computed.
    ///   - hasChecksums: Whether its CRC-32C is wanted.
    init(known: PayloadDigest?, hasChecksums: Bool) {
        self.known = known
        crc32c = hasChecksums ? CRC32C() : nil
    }

    mutating func update(_ bytes: [UInt8]) {
        if known == nil { sha256.update(bytes.span) }
        crc32c?.update(bytes.span)
    }

    /// The sums of a whole body in memory.
    func over(_ bytes: [UInt8]) -> BodyChecksums {
        var sums = self
        sums.update(bytes)
        return sums.end
    }

    /// The sums of what was taken.
    var end: BodyChecksums {
        BodyChecksums(
            payload: known ?? .sha256(String(hexadecimal: sha256.digest)),
            crc32c: crc32c.map { sum in
                Base64.encode((0..<4).map { UInt8(truncatingIfNeeded: sum.value >> (24 - 8 * $0)) })
            })
    }
}
