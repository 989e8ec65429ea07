/// Media types somebody asks for: `image/png`, `image/*` or `*/*`.
public struct MediaRange: Equatable, Sendable {
    private let type: String
    private let subtype: String

    /// Reads a range; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        let halves = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0] != "*" || halves[1] == "*",
            halves.allSatisfy({ half in
                half == "*" || !half.isEmpty && half.utf8.allSatisfy(Self.isName)
            })
        else { return nil }
        (type, subtype) = (String(halves[0]), String(halves[1]))
    }

    /// Whether a part's type lies in it, whatever its case and parameters (R21).
    public func contains(_ mimeType: String) -> Bool {
        let essence = mimeType.prefix { character in character != ";" }.lowercased()
        guard let slash = essence.utf8.firstIndex(of: UInt8(ascii: "/")) else { return false }
        let name = essence[essence.utf8.index(after: slash)...]
            .prefix { character in !character.isWhitespace }
        return (type == "*" || essence[..<slash] == type) && (subtype == "*" || name == subtype)
    }

    /// What a name in a media type is made of (RFC 6838 §4.2).
    private static func isName(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$&-^_.+".utf8.contains(octet)
        }
    }
}
