/// Where a store is, and how it is spoken to.
public struct ObjectStoreSettings: Sendable {
    /// `https://s3.eu-central-1.amazonaws.com`, `http://127.0.0.1:9000`; a path is allowed.
    public var endpoint: String
    /// What requests are signed for; stores without regions take `us-east-1`.
    public var region: String
    /// The bucket, which must exist.
    public var bucket: String
    /// What every key begins with, such as `parley/`; empty for nothing.
    public var prefix: String
    /// Where the bucket's name stands in URLs.
    public var style: AddressStyle
    /// Who asks.
    public var credentials: Credentials
    /// A PEM file of the certificate authorities to believe; `nil` for the system's.
    public var authorities: String?
    /// Whether bodies are sent without their SHA-256, for speed; with TLS only (§10.4).
    public var leavesPayloadUnsigned: Bool
    /// Whether parts of multipart uploads carry their CRC-32C; not every store knows it (§10.4).
    ///
    /// Not to be taken back while uploads are under way that began with it: the store insists on it.
    public var sumsParts: Bool
    /// How often one request is tried when the store or the way to it fails for the moment.
    public var attempts: Int

    /// The first wait before another attempt is up to so many milliseconds; each further one up to
    /// twice the one before, and none more than ``longestWait``.
    public var firstWait: Int64
    /// In milliseconds.
    public var longestWait: Int64

    /// Takes settings as they come; ``mistakes()`` says what is wrong with them.
    public init(
        endpoint: String, region: String = "us-east-1", bucket: String, prefix: String = "",
        style: AddressStyle = .path, credentials: Credentials, authorities: String? = nil,
        leavesPayloadUnsigned: Bool = false, sumsParts: Bool = false, attempts: Int = 6,
        firstWait: Int64 = 200, longestWait: Int64 = 10_000
    ) {
        self.endpoint = endpoint
        self.region = region
        self.bucket = bucket
        self.prefix = prefix
        self.style = style
        self.credentials = credentials
        self.authorities = authorities
        self.leavesPayloadUnsigned = leavesPayloadUnsigned
        self.sumsParts = sumsParts
        self.attempts = attempts
        self.firstWait = firstWait
        self.longestWait = longestWait
    }
}

/// Where a bucket's name stands in URLs.
public enum AddressStyle: String, Sendable, CaseIterable {
    /// `https://host/bucket/key`.
    case path
    /// `https://bucket.host/key`.
    case virtualHost = "virtual-host"
}
