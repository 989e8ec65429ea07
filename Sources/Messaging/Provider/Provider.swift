/// A service of the application that issues identity tokens for its users (X14).
public struct Provider: Equatable, Sendable {
    /// The id of a provider: the `iss` of its identity tokens.
    public typealias ID = Identifier<Provider>

    /// Its id.
    public let id: ID
    /// A name for operators; 1 to ``nameLimit`` Unicode scalars.
    public let name: String
    /// The moment of creation.
    public let createdAt: Timestamp
    /// Its keys, oldest first, without deleted ones.
    public var keys: [ProviderKey]

    /// The maximum number of Unicode scalars of a name.
    public static let nameLimit = 128
    /// The maximum number of providers of an application.
    public static let limit = 100

    /// All members.
    public init(id: ID, name: String, createdAt: Timestamp, keys: [ProviderKey] = []) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        self.keys = keys
    }
}

/// The public half of a key with which a provider signs identity tokens (X14).
public struct ProviderKey: Equatable, Sendable {
    /// The id of a key: the `kid` of the identity tokens that it signs.
    public typealias ID = Identifier<ProviderKey>

    /// A signature algorithm of a key; raw values are the `alg` of identity tokens (RFC 7518 §3.1, RFC 8037 §3.1).
    public enum Algorithm: String, CaseIterable, Sendable {
        /// RSASSA-PKCS1-v1_5 with SHA-256 and at least 2048 bits.
        case rs256 = "RS256"
        /// ECDSA on P-256 with SHA-256.
        case es256 = "ES256"
        /// Ed25519.
        case edDSA = "EdDSA"
    }

    /// Its id.
    public let id: ID
    /// The provider that signs with it.
    public let provider: Provider.ID
    /// The algorithm, which the type of the key decides.
    public let algorithm: Algorithm
    /// The public key in DER (`SubjectPublicKeyInfo`, RFC 5280 §4.1).
    public let der: [UInt8]
    /// The moment of creation.
    public let createdAt: Timestamp
    /// Whether identity tokens that it has signed are rejected for now.
    public var isDisabled: Bool

    /// The maximum number of keys of a provider.
    public static let limit = 100

    /// All members.
    public init(
        id: ID, provider: Provider.ID, algorithm: Algorithm, der: [UInt8], createdAt: Timestamp,
        isDisabled: Bool = false
    ) {
        self.id = id
        self.provider = provider
        self.algorithm = algorithm
        self.der = der
        self.createdAt = createdAt
        self.isDisabled = isDisabled
    }
}
