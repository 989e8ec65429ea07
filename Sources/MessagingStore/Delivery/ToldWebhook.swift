public import Messaging

/// A webhook, and of which stretches of the log it is told (webhooks §1.3).
public struct ToldWebhook: Equatable, Sendable {
    /// The webhook, however it stands.
    public let webhook: Webhook
    /// Stretches it was active for, oldest first, that ended before the log was read so far.
    public let unread: [LogStretch]

    /// Puts it together.
    public init(_ webhook: Webhook, unread: [LogStretch] = []) {
        self.webhook = webhook
        self.unread = unread
    }

    /// Behind which place the first event is that it is told of; `nil` while it is told of none.
    public var since: LogPosition? {
        (unread.map(\.after) + [webhook.activeSince].compactMap(\.self)).min()
    }

    /// Whether it is told of what happened at a place.
    public func isTold(of position: LogPosition) -> Bool {
        if let since = webhook.activeSince, since < position { return true }
        return unread.contains { stretch in stretch.contains(position) }
    }
}

/// Events in a row.
public struct LogStretch: Equatable, Sendable {
    /// The place before the first.
    public let after: LogPosition
    /// The last.
    public let through: LogPosition

    /// The events behind a place, up to another one.
    public init(after: LogPosition, through: LogPosition) {
        self.after = after
        self.through = through
    }

    func contains(_ position: LogPosition) -> Bool { after < position && position <= through }
}

extension Webhook {
    /// Behind which place of the log it is sent what happens; `nil` while it is not active.
    fileprivate var activeSince: LogPosition? {
        if case .active(let since) = status { since } else { nil }
    }
}
