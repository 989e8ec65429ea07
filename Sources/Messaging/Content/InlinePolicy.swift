/// Which contents a reader wants to have in the answer itself (X8).
public struct InlinePolicy: Equatable, Sendable {
    /// Most bytes of a content a reader may ask for: 1 MiB.
    public static let sizeLimit: Int64 = 1 << 20
    /// Most bytes of all contents of an answer: 8 MiB.
    public static let answerLimit: Int64 = 8 << 20

    /// Bytes up to which a content is wanted.
    public let maxSize: Int64
    /// Types that are wanted; `nil` for all.
    public let types: [MediaRange]?

    /// A policy.
    ///
    /// - Parameter maxSize: 0 to 1 MiB; what an inline body may have when it is not said.
    public init(maxSize: Int64 = Int64(MessagePart.inlineLimit), types: [MediaRange]? = nil) {
        self.maxSize = maxSize
        self.types = types
    }

    /// The contents to show in an answer, each once, in the order of their first parts.
    ///
    /// A content counts as often as parts show it; what would go beyond the limit of the answer
    /// stays a reference, in all of its parts.
    public func contents(of messages: [Message]) -> [Content.ID] {
        var sizes: [Content.ID: Int64] = [:]
        var order: [Content.ID] = []
        for part in messages.lazy.flatMap(\.parts) {
            guard case .content(let id, let size) = part.body, isWanted(part, size) else {
                continue
            }
            if sizes[id] == nil { order.append(id) }
            sizes[id, default: 0] += size
        }
        var rest = Self.answerLimit
        return order.filter { id in
            let size = sizes[id] ?? 0
            guard size <= rest else { return false }
            rest -= size
            return true
        }
    }

    private func isWanted(_ part: MessagePart, _ size: Int64) -> Bool {
        size <= maxSize && types?.contains { range in range.contains(part.mimeType) } ?? true
    }
}
