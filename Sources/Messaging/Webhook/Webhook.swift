/// An address that is told of what happens in an application (webhooks §1).
public struct Webhook: Equatable, Sendable {
    /// Names one webhook.
    public typealias ID = Identifier<Webhook>

    /// Most webhooks of one application (webhooks §1.2).
    public static let limit = 50

    /// One text that stands in all it is sent; names are unique.
    public struct Setting: Equatable, Sendable {
        /// Its name.
        public let name: String
        /// What it says.
        public let value: String

        /// A setting.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Its name.
    public let id: ID
    /// The shape of what it is sent.
    public let payloadVersion: WebhookVersion
    /// Where it is sent: an absolute URL.
    public let target: String
    /// What it asked for, in that order, none twice.
    public let topics: [Topic]
    /// What signs what it is sent; never told again.
    public let secret: String
    /// What was registered with it, as it came; `nil` for nothing, which is not the same as no
    /// members (webhooks §4.1).
    public let config: [Setting]?
    /// How it stands.
    public var status: Status
    /// When it was registered.
    public let createdAt: Timestamp
    /// Rises with its status; from one (X4).
    public var version: Int64

    /// A webhook as stored.
    public init(
        id: ID, payloadVersion: WebhookVersion, target: String, topics: [Topic], secret: String,
        config: [Setting]?, status: Status = .unverified, createdAt: Timestamp, version: Int64 = 1
    ) {
        self.id = id
        self.payloadVersion = payloadVersion
        self.target = target
        self.topics = topics
        self.secret = secret
        self.config = config
        self.status = status
        self.createdAt = createdAt
        self.version = version
    }
}
