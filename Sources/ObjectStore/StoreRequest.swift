internal import Bytes
internal import HTTP
internal import HTTPClient

/// A request to the store before it is signed.
struct StoreRequest: Sendable {
    /// The operation's name in §10.3.
    let operation: String
    let method: Method
    /// The full key; `nil` for the bucket itself.
    let key: String?
    var query: [(name: String, value: String)] = []
    var fields: [(name: String, value: String)] = []
    var body: ClientBody = .none
    var payload: PayloadDigest = .empty
    /// Whether the response is a download, read at its reader's pace.
    var isDownload = false
    /// The longest time without any bytes, while the store works.
    var stallTimeout: Duration = .seconds(30)
    /// Called with the bytes of the body sent so far.
    var onBytesSent: (@Sendable (Int64) -> Void)?

    /// For operations on gigabytes, during which not every store sends white space.
    static let longWork: Duration = .seconds(300)

    init(_ operation: String, _ method: Method, _ key: String?) {
        self.operation = operation
        self.method = method
        self.key = key
    }
}

extension ObjectStore {
    /// The signed request, at the current time.
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

/// The checksums that a store verifies a body with.
struct BodyChecksums: Sendable {
    let payload: PayloadDigest
    /// The CRC-32C in base64, if wanted.
    let crc32c: String?
}

/// Computes the checksums of a body.
struct BodyHasher: Sendable {
    private let known: PayloadDigest?
    private var sha256 = SHA256()
    private var crc32c: CRC32C?

    /// - Parameters:
    ///   - known: The payload digest, if it need not be computed.
    ///   - hasChecksums: Whether the CRC-32C is wanted.
    init(known: PayloadDigest?, hasChecksums: Bool) {
        self.known = known
        crc32c = hasChecksums ? CRC32C() : nil
    }

    mutating func update(_ bytes: [UInt8]) {
        if known == nil { sha256.update(bytes.span) }
        crc32c?.update(bytes.span)
    }

    /// The checksums of a whole body in memory.
    func over(_ bytes: [UInt8]) -> BodyChecksums {
        var sums = self
        sums.update(bytes)
        return sums.end
    }

    /// The checksums of the bytes so far.
    var end: BodyChecksums {
        BodyChecksums(
            payload: known ?? .sha256(String(hexadecimal: sha256.digest)),
            crc32c: crc32c.map { sum in
                Base64.encode(sum.digest)
            })
    }
}
