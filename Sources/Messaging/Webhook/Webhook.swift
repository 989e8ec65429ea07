/// A URL that receives the events of an application (webhooks §1).
public struct Webhook: Equatable, Sendable {
    /// The id of a webhook.
    public typealias ID = Identifier<Webhook>

    /// The maximum number of webhooks of one application (webhooks §1.2).
    public static let limit = 50

    /// A setting: a name with a text, included in every request. Names are unique.
    public struct Setting: Equatable, Sendable {
        /// Its name.
        public let name: String
        /// Its value.
        public let value: String

        /// A setting.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Its id.
    public let id: ID
    /// The version of its request bodies.
    public let payloadVersion: WebhookVersion
    /// The target: an absolute URL.
    public let target: String
    /// The subscribed topics in the order given, without duplicates.
    public let topics: [WebhookTopic]
    /// The secret that signs requests; never shown again.
    public let secret: String
    /// The registered settings in the order given; `nil` for none, which differs from an object without
    /// members (webhooks §4.1).
    public let config: [Setting]?
    /// The status.
    public var status: Status
    /// The moment of the registration.
    public let createdAt: Timestamp
    /// The version: 1 at first, and higher after each change of the status (X4).
    public var version: Int64

    /// A webhook as stored.
    public init(
        id: ID, payloadVersion: WebhookVersion, target: String, topics: [WebhookTopic],
        secret: String,
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

extension Webhook {
    /// The status of a webhook (webhooks §1.3).
    public enum Status: Equatable, Sendable {
        /// Its target has not answered the challenge yet.
        case unverified
        /// Every event after a position of the log is delivered. Earlier events are neither delivered nor
        /// stored for it.
        case active(since: LogPosition)
        /// Nothing is delivered; the reason is shown as `status_reason`.
        case inactive(reason: String)
    }

    /// The reason of a deactivation by request.
    public static let deactivatedByUser = "Deactivated by User"

    /// Returns the webhook after an activation, which verifies the target again. The status changes only if it is
    /// inactive (webhooks §1.2).
    public func activating() -> Webhook {
        switch status {
        case .unverified, .active: self
        case .inactive: with(.unverified)
        }
    }

    /// Returns the webhook after a deactivation, which is possible in every status (webhooks §1.3).
    ///
    /// - Parameter reason: A text that is shown as `status_reason`.
    public func deactivating(because reason: String) -> Webhook { with(.inactive(reason: reason)) }

    /// Returns the webhook after the verification of its target (webhooks §2).
    ///
    /// - Parameters:
    ///   - verified: The webhook when the verification began; its result is ignored if the webhook changed since.
    ///   - failure: The reason of the failure; `nil` for success.
    ///   - end: The end of the log, after which every event is delivered.
    public func verified(
        _ verified: Webhook, failure: String?, endOfLog end: LogPosition
    ) -> Webhook {
        guard status == .unverified, version == verified.version else { return self }
        return with(failure.map(Status.inactive) ?? .active(since: end))
    }

    /// Returns the webhook with another status; an equal status changes nothing (X4).
    private func with(_ status: Status) -> Webhook {
        guard status != self.status else { return self }
        var changed = self
        changed.status = status
        changed.version += 1
        return changed
    }
}

/// A webhook without its secret, as answers and events show it.
///
/// It is a separate type, so that code that shows webhooks cannot reveal a secret.
public struct WebhookSummary: Equatable, Sendable {
    /// Its id.
    public let id: Webhook.ID
    /// The version of its request bodies.
    public let payloadVersion: WebhookVersion
    /// The target: an absolute URL.
    public let target: String
    /// The subscribed topics in the order given, without duplicates.
    public let topics: [WebhookTopic]
    /// The registered settings in the order given; `nil` for none.
    public let config: [Webhook.Setting]?
    /// The status.
    public let status: Webhook.Status
    /// The moment of the registration.
    public let createdAt: Timestamp

    /// All members.
    public init(
        id: Webhook.ID, payloadVersion: WebhookVersion, target: String, topics: [WebhookTopic],
        config: [Webhook.Setting]?, status: Webhook.Status, createdAt: Timestamp
    ) {
        self.id = id
        self.payloadVersion = payloadVersion
        self.target = target
        self.topics = topics
        self.config = config
        self.status = status
        self.createdAt = createdAt
    }

    /// The visible members of a webhook.
    public init(_ webhook: Webhook) {
        self.init(
            id: webhook.id, payloadVersion: webhook.payloadVersion, target: webhook.target,
            topics: webhook.topics, config: webhook.config, status: webhook.status,
            createdAt: webhook.createdAt)
    }
}
