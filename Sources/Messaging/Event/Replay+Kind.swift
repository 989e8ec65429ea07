extension Replay {
    /// What a replay key stands for; keys of different things do not meet (platform-api 1.9).
    public enum Kind: String, CaseIterable, Sendable {
        case conversation, message, announcement
        /// A distinct conversation that was there already: its replay answers as the match did.
        case match
        /// A message that is or was to be sent later; its id is promised to it under the id itself, too.
        case scheduled
        /// A batch of messages; it stands for their conversation.
        case batch

        /// What the key of a sending may stand for.
        public static let sendingNames = [Kind.message, .scheduled, .batch].map(\.rawValue)
    }
}
