/// A change of a message's parts (platform-api 5.3).
public enum PartOperation: Equatable, Sendable {
    /// One more part, behind all others.
    case add(MessagePart.Draft)
    /// Another type and body for one part, which keeps its names.
    case replace(MessagePart.Name, MessagePart.Draft)
    /// These parts and no others, 1 to 1000, in this order.
    case replaceAll([Replacement])
    /// One part less; never the last (R20).
    case remove(MessagePart.Name)

    /// A part among those that replace all others.
    public struct Replacement: Equatable, Sendable {
        /// The part that is kept under its names, or an id for a new one; `nil` for a new id.
        public let name: MessagePart.Name?
        /// What it holds.
        public let draft: MessagePart.Draft

        /// A part to be.
        public init(name: MessagePart.Name?, draft: MessagePart.Draft) {
            self.name = name
            self.draft = draft
        }
    }

    /// What shall be stored.
    public var drafts: [MessagePart.Draft] {
        switch self {
        case .add(let draft), .replace(_, let draft): [draft]
        case .replaceAll(let replacements): replacements.map(\.draft)
        case .remove: []
        }
    }
}
