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
    public let topics: [WebhookTopic]
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
    /// How a webhook stands (webhooks §1.3).
    public enum Status: Equatable, Sendable {
        /// Its target has still to show that it wants what it is sent.
        case unverified
        /// It is sent every event behind a place in the log: what happened before it was active is
        /// not sent, and not kept for it.
        case active(since: LogPosition)
        /// It is sent nothing; in words, why.
        case inactive(reason: String)
    }

    /// Why it is inactive when somebody asked for that.
    public static let deactivatedByUser = "Deactivated by User"

    /// Decides an activation: its target is asked once more. An active one is left as it is, and so
    /// is one that is being asked (webhooks §1.2).
    public func activating() -> Webhook {
        switch status {
        case .unverified, .active: self
        case .inactive: with(.unverified)
        }
    }

    /// Decides an end, whatever it was before (webhooks §1.3).
    ///
    /// - Parameter reason: In words; what is shown as `status_reason`.
    public func deactivating(because reason: String) -> Webhook { with(.inactive(reason: reason)) }

    /// Decides what comes of having asked its target (webhooks §2).
    ///
    /// - Parameters:
    ///   - asked: What it was when its target was asked: who has decided something since is not
    ///     overruled by a late answer.
    ///   - failure: Why it failed, in words; `nil` when the target wants it.
    ///   - end: The end of the log, behind which it is sent everything.
    public func verified(
        _ asked: Webhook, failure: String?, endOfLog end: LogPosition
    ) -> Webhook {
        guard status == .unverified, version == asked.version else { return self }
        return with(failure.map(Status.inactive) ?? .active(since: end))
    }

    /// The same with another status; a status it has already changes nothing (X4).
    private func with(_ status: Status) -> Webhook {
        guard status != self.status else { return self }
        var changed = self
        changed.status = status
        changed.version += 1
        return changed
    }
}

/// A webhook as anybody may see it who reads what happens in its application: without its secret.
///
/// A type of its own, so that no line which tells of webhooks has a secret to leave out.
public struct WebhookSummary: Equatable, Sendable {
    /// Its name.
    public let id: Webhook.ID
    /// The shape of what it is sent.
    public let payloadVersion: WebhookVersion
    /// Where it is sent: an absolute URL.
    public let target: String
    /// What it asked for, in that order, none twice.
    public let topics: [WebhookTopic]
    /// What was registered with it, as it came; `nil` for nothing.
    public let config: [Webhook.Setting]?
    /// How it stands.
    public let status: Webhook.Status
    /// When it was registered.
    public let createdAt: Timestamp

    /// A webhook as an event tells of it.
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

    /// What may be seen of a webhook.
    public init(_ webhook: Webhook) {
        self.init(
            id: webhook.id, payloadVersion: webhook.payloadVersion, target: webhook.target,
            topics: webhook.topics, config: webhook.config, status: webhook.status,
            createdAt: webhook.createdAt)
    }
}
