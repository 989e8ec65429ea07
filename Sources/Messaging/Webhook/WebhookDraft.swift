extension Webhook {
    /// A validated registration (webhooks §1.2).
    public struct Draft: Equatable, Sendable {
        /// The maximum number of Unicode scalars of a target.
        public static let targetLimit = 2048
        /// The maximum number of Unicode scalars of a secret.
        public static let secretLimit = 1024
        /// The maximum number of settings.
        public static let settingLimit = 100
        /// The maximum number of bytes of all names and values together, because every delivery includes
        /// them.
        public static let configLimit = 2048

        /// The version of its request bodies.
        private let payloadVersion: WebhookVersion
        /// The target: an absolute URL.
        public let target: String
        /// The topics to subscribe to.
        let topics: [WebhookTopic]
        /// The secret that signs requests.
        private let secret: String
        /// The texts that every request includes.
        private let config: [Setting]?

        /// Validates a registration.
        ///
        /// `PlatformAPI` checks the target's URL and the addresses of its host.
        ///
        /// - Throws: `invalid` with the name of the first invalid member, in the order of
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

        /// Whether a text is a valid secret.
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
