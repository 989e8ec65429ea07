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
