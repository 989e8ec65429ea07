extension MessagePart {
    /// How a caller names a part of a message he knows (platform-api 1.3, 5.3).
    public enum Name: Equatable, Sendable {
        case id(MessagePart.ID)
        /// Its creation number.
        case index(Int)

        /// Whether it names that part.
        func names(_ part: MessagePart) -> Bool {
            switch self {
            case .id(let id): part.id == id
            case .index(let index): part.index == index
            }
        }
    }
}
