import JSON
public import Messaging

/// JSON texts in which an erasure looks for a user (X16): bodies of webhooks, stored answers, and notifications.
public enum ErasedBodyJSON {
    /// Members whose values are texts that users write for each other.
    private static let texts: Set<String> = [
        "body", "metadata", "mime_type", "text", "title", "sound",
    ]

    /// Whether a JSON text names a user: by the user id, as a value or the name of a member, or by an identity id or a URL.
    public static func names(_ json: [UInt8], _ user: UserID) -> Bool {
        guard !json.isEmpty, let root = try? JSONDocument(json).root else { return false }
        return Names(of: user).occur(in: root)
    }

    /// Whether a text, such as a header, has the path of a user or of the user's identity.
    public static func names(inText text: [UInt8], _ user: UserID) -> Bool {
        Names(of: user).occur(in: text)
    }

    /// Returns what is left of the body of a webhook delivery that names an erased user: the event without its actor, and
    /// `erased`.
    public static func delivery(_ body: [UInt8]) -> [UInt8] {
        let event = (try? JSONDocument(body).root)?["event"]
        var writer = JSONWriter()
        writer.object { writer in
            if let event {
                writer.key("event")
                writer.object { writer in
                    for (name, value) in event.members where name != "actor" {
                        guard let text = value.string else { continue }
                        writer.key(name)
                        writer.string(text)
                    }
                }
            }
            writer.member("erased", true)
        }
        return writer.finish()
    }

    /// The forms in which texts name a user.
    private struct Names {
        private let id: [UInt8]
        private let paths: [[UInt8]]

        init(of user: UserID) {
            id = Array(user.text.utf8)
            let name = URIComponent.encoded(user.text)
            paths = ["/users/\(name)", "/identities/\(name)"].map { path in Array(path.utf8) }
        }

        func occur(in value: JSONValue) -> Bool {
            switch value.kind {
            case .string: isName(value.string ?? "")
            case .array: value.elements.contains { element in occur(in: element) }
            case .object:
                value.members.contains { name, member in
                    isName(name) || !ErasedBodyJSON.texts.contains(name) && occur(in: member)
                }
            case .number, .bool, .null: false
            }
        }

        private func isName(_ text: String) -> Bool {
            let bytes = Array(text.utf8)
            return bytes == id || occur(in: bytes)
        }

        /// Whether a path occurs that is not the beginning of another user's path.
        func occur(in text: [UInt8]) -> Bool {
            paths.contains { path in
                guard text.count >= path.count else { return false }
                for start in 0...text.count - path.count
                where text[start] == path[0]
                    && text[start..<start + path.count].elementsEqual(path)
                {
                    let next = start + path.count
                    if next == text.count || !Self.continuesName(text[next]) { return true }
                }
                return false
            }
        }

        private static func continuesName(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "~"), UInt8(ascii: "*"),
                UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "%"):
                true
            default: false
            }
        }
    }
}
