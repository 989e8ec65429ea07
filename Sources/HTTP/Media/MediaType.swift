/// A media type as it may stand in a header: `type/subtype` and parameters, visible ASCII, at most
/// 255 octets (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Equatable {
    /// The type as it was said, with its parameters.
    public let text: String

    /// What is nothing in particular.
    public static let unknown = MediaType(checked: "application/octet-stream")

    /// What a client declared, or `application/octet-stream` when that could harm a header.
    public init(untrusted text: String) {
        self = MediaType(text) ?? .unknown
    }

    /// Reads a media type; `nil` when it is none, too long, or has a control byte.
    public init?(_ text: String) {
        let text = String(text.trimmed)
        guard text.utf8.count <= 255, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        let essence = text.prefix { $0 != ";" }.trimmed
        let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, halves.allSatisfy(\.utf8.isToken) else { return nil }
        self.text = text
    }

    private init(checked text: String) { self.text = text }

    /// Type and subtype in lower case, without parameters.
    public var essence: String { text.prefix { $0 != ";" }.trimmed.lowercased() }

    /// Whether content of this type is text, which shrinks when compressed (H114); events of a
    /// stream are not, they leave one by one.
    var isText: Bool {
        let essence = essence
        if essence == "text/event-stream" { return false }
        return essence.hasPrefix("text/") || essence.hasSuffix("+json") || essence.hasSuffix("+xml")
            || ["application/json", "application/javascript", "application/xml"].contains(essence)
    }
}
