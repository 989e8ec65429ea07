extension Endpoint {
    /// Everything the Platform API offers, each line once, kept beside the noun it is about.
    public static let all: [Endpoint] = [
        conversations, messages, parts, views, viewChanges, content, announcements, notifications,
        exports, moving, events, webhooks, deliveries, identities, following, blocks, badges, users,
        applications,
    ].flatMap(\.self)
}
