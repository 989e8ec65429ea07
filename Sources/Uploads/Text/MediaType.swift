/// A media type as it may stand in a header (§9.7): `type/subtype` and parameters, visible ASCII.
struct MediaType: Sendable, Equatable {
    let text: String

    static let unknown = MediaType(checked: "application/octet-stream")

    /// What a client declared, or `application/octet-stream` when that could harm a header.
    init(untrusted text: String) {
        self = MediaType(text) ?? .unknown
    }

    /// Reads a media type; `nil` when it is none, too long, or has a control byte.
    init?(_ text: String) {
        let text = String(text.trimmed)
        guard text.utf8.count <= 255, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        let essence = text.prefix { $0 != ";" }.trimmed
        let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, halves.allSatisfy(MediaType.isToken) else { return nil }
        self.text = text
    }

    private init(checked text: String) { self.text = text }

    /// Type and subtype in lower case, without parameters.
    var essence: String { text.prefix { $0 != ";" }.trimmed.lowercased() }

    private static func isToken(_ text: Substring) -> Bool {
        let signs = Array("!#$%&'*+-.^_`|~".utf8)
        return !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: signs.contains(byte)
                }
            }
    }
}
