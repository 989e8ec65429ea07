public import ObjectStore

/// The bucket that contents lie in, where they do not lie in the data folder.
public struct BucketSettings: Sendable {
    /// Its name; `nil` for no bucket.
    public var name: String?
    /// The store's URL; `nil` for Amazon's of ``region``.
    public var endpoint: String?
    /// What requests are signed for.
    public var region = "us-east-1"
    /// What every key begins with.
    public var prefix: String?
    /// Where the bucket's name stands in URLs.
    public var style = AddressStyle.path
    /// Who asks.
    public var accessKey: String?
    /// A file that holds such a key.
    public var accessKeyFile: String?
    /// What proves it.
    public var secretKey: String?
    /// A file that holds such a key.
    public var secretKeyFile: String?
    /// Of credentials that are good for a session only.
    public var sessionToken: String?
    /// A file that holds such a token.
    public var sessionTokenFile: String?
    /// A file that holds the three, as Amazon's tools write it.
    public var credentialsFile: String?
    /// A PEM file of the authorities that vouch for the store; `nil` for the system's.
    public var authorities: String?
    /// Whether bodies are sent without their SHA-256.
    public var leavesPayloadUnsigned = false
    /// Whether parts carry their CRC-32C.
    public var sumsParts = false
    /// Whether whoever downloads is sent to the store.
    public var redirects = false

    /// Where bytes of uploads lie that make no whole part.
    public var tail = UploadTail.auto

    /// No bucket.
    public init() {}
}
