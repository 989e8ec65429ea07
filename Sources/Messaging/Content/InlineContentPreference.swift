/// Which contents the client wants inlined in the response (X8).
public struct InlineContentPreference: Equatable, Sendable {
    /// The largest size that a client may request: 1 MiB.
    public static let sizeLimit: Int64 = 1 << 20
    /// The maximum number of inlined bytes in one response: 8 MiB.
    private static let answerLimit: Int64 = 8 << 20

    /// The largest size of an inlined content, in bytes.
    private let maxSize: Int64
    /// The media types to inline; `nil` for all.
    private let types: [MediaRange]?

    /// Creates a preference.
    ///
    /// - Parameter maxSize: 0 to 1 MiB; by default the limit of an inline body.
    public init(maxSize: Int64 = Int64(MessagePart.inlineLimit), types: [MediaRange]? = nil) {
        self.maxSize = maxSize
        self.types = types
    }

    /// Returns the contents to inline in a response, without duplicates, in the order of their first parts.
    ///
    /// The size of a content counts once for each part that attaches it. A content that would exceed the limit of the
    /// response is not inlined in any of its parts.
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

/// A range of media types: `image/png`, `image/*` or `*/*`.
public struct MediaRange: Equatable, Sendable {
    private let type: String
    private let subtype: String

    /// Parses a range; `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        let halves = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0] != "*" || halves[1] == "*",
            halves.allSatisfy({ half in
                half == "*" || !half.isEmpty && half.utf8.allSatisfy(Self.isName)
            })
        else { return nil }
        (type, subtype) = (String(halves[0]), String(halves[1]))
    }

    /// Whether the range includes a media type, regardless of case and parameters (R21).
    public func contains(_ mimeType: String) -> Bool {
        let essence = mimeType.prefix { character in character != ";" }.lowercased()
        guard let slash = essence.utf8.firstIndex(of: UInt8(ascii: "/")) else { return false }
        let name = essence[essence.utf8.index(after: slash)...]
            .prefix { character in !character.isWhitespace }
        return (type == "*" || essence[..<slash] == type) && (subtype == "*" || name == subtype)
    }

    /// Whether a byte may be part of the name of a media type (RFC 6838 §4.2).
    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$&-^_.+".utf8.contains(byte)
        }
    }
}
