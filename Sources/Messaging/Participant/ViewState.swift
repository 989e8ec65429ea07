/// Whether a conversation stands in a user's view (R14, R16, R17, R50).
public enum ViewState: String, Sendable {
    /// Not yet: nobody has announced it, or all that was sent is hidden by blocks (R51, R33).
    case unseen
    /// In his lists.
    case shown
    /// He deleted it for himself; the next message he may see brings it back (R16).
    case cleared
    /// He left it; only being added again brings it back (R17).
    case left
}
