extension Conversation {
    /// From whose view a user deletes a conversation.
    public enum Deletion: Equatable, Sendable {
        /// Everybody's (R18).
        case forAll
        /// His own; he still takes part (R16).
        case forMe
        /// His own, and he takes part no more (R17).
        case leaving
    }
}
