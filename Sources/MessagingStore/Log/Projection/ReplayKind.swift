/// What a replay key stands for; keys of different things do not meet (platform-api 1.9).
enum ReplayKind: String {
    case conversation, message, announcement
    /// A distinct conversation that was there already: its replay answers as the match did.
    case match
}
