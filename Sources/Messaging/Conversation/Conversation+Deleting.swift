extension Conversation {
    /// Decides a deletion for all; `nil` when it is done already, as a repeat succeeds (R18).
    public func deleting(at now: Timestamp) -> Event? {
        deletedAt == nil ? .conversationDeleted(id, at: now) : nil
    }
}
