/// A media type that is safe in a header: `type/subtype` and parameters, visible ASCII, at most 255
/// bytes (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Equatable {
    /// The type with its parameters, as given.
    public let text: String

    /// `application/octet-stream`.
    public static let unknown = MediaType(checked: "application/octet-stream")

    /// The type that a client declared, or ``unknown`` when it is invalid.
    public init(untrusted text: String) {
        self = MediaType(text) ?? .unknown
    }

    /// Parses a media type; `nil` when it is malformed, too long or not visible ASCII.
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

    /// Whether content of this type is compressible text (H114). Event streams are not, because
    /// their events are sent one by one.
    var isText: Bool {
        let essence = essence
        if essence == "text/event-stream" { return false }
        return essence.hasPrefix("text/") || essence.hasSuffix("+json") || essence.hasSuffix("+xml")
            || ["application/json", "application/javascript", "application/xml"].contains(essence)
    }
}

extension MediaType {
    /// The type for the extension of a file name; ``unknown`` for other extensions.
    public init(fileName: String) {
        let ending = fileName.split(separator: ".", omittingEmptySubsequences: false)
        let text = ending.count > 1 ? Self.byEnding[ending[ending.count - 1].lowercased()] : nil
        self = text.flatMap { text in MediaType(text) } ?? .unknown
    }

    private static let byEnding = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "txt": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8",
        "csv": "text/csv; charset=utf-8", "json": "application/json", "map": "application/json",
        "webmanifest": "application/manifest+json", "xml": "application/xml",
        "wasm": "application/wasm", "pdf": "application/pdf", "zip": "application/zip",
        "gz": "application/gzip", "svg": "image/svg+xml", "png": "image/png",
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "ico": "image/x-icon", "woff": "font/woff", "woff2": "font/woff2",
        "mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4",
        "webm": "video/webm",
    ]
}
