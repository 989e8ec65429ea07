/// What a replay key stands for; keys of conversations and of messages do not meet (platform-api 1.9).
enum ReplayKind: String {
    case conversation, message
    /// A distinct conversation that was there already: its replay answers as the match did.
    case match
}
