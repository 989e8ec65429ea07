extension Webhook {
    /// What is registered, found to be in order (webhooks §1.2).
    public struct Draft: Equatable, Sendable {
        /// Most Unicode scalars of a target.
        public static let targetLimit = 2048
        /// Most Unicode scalars of a secret.
        public static let secretLimit = 1024
        /// Most settings.
        public static let settingLimit = 100
        /// The maximum number of bytes of all names and values together, because every delivery includes
        /// them.
        public static let configLimit = 2048

        /// The shape of what it is sent.
        private let payloadVersion: WebhookVersion
        /// Where it is sent.
        public let target: String
        /// What it asks for.
        let topics: [WebhookTopic]
        /// What signs what it is sent.
        private let secret: String
        /// The texts that every request includes.
        private let config: [Setting]?

        /// What is to be registered.
        ///
        /// Whether the target may be called is not decided here: that takes looking up its host.
        ///
        /// - Throws: `invalid` with the name of the first member that will not do, in the order of
        ///   webhooks §1.2.
        public init(
            payloadVersion: WebhookVersion, target: String, topics: [WebhookTopic], secret: String,
            config: [Setting]?
        ) throws(Rejection) {
            guard Self.isShort(target, Self.targetLimit) else {
                throw .invalid("target_url", .webhookTargetLength)
            }
            let known = WebhookTopic.all(in: payloadVersion)
            guard !topics.isEmpty, topics.allSatisfy(known.contains) else {
                throw .invalid("events", .webhookEvents)
            }
            guard Self.isSecret(secret) else { throw .invalid("secret", .webhookSecret) }
            try Self.check(config ?? [])
            self.payloadVersion = payloadVersion
            self.target = target
            self.topics = topics.reduce(into: []) { topics, topic in
                if !topics.contains(topic) { topics.append(topic) }
            }
            self.secret = secret
            self.config = config
        }

        /// Whether a text may sign what is sent.
        public static func isSecret(_ text: String) -> Bool {
            !text.isEmpty && isShort(text, secretLimit)
        }

        /// The webhook of the draft.
        public func makeWebhook(id: ID, at now: Timestamp) -> Webhook {
            Webhook(
                id: id, payloadVersion: payloadVersion, target: target, topics: topics,
                secret: secret, config: config, createdAt: now)
        }

        private static func isShort(_ text: String, _ limit: Int) -> Bool {
            text.unicodeScalars.prefix(limit + 1).count <= limit && text.isStorable
        }

        private static func check(_ config: [Setting]) throws(Rejection) {
            guard config.count <= settingLimit else {
                throw .invalid("config", .webhookConfigCount, .init(amount: config.count))
            }
            let size = config.reduce(0) { size, setting in
                size + setting.name.utf8.count + setting.value.utf8.count
            }
            guard size <= configLimit else {
                throw .invalid("config", .webhookConfigSize, .init(amount: size))
            }
        }
    }
}
