import JSON
public import Messaging

/// JSON texts in which an erasure looks for a user (X16): bodies of webhooks, stored answers, and notifications.
public enum ErasedBodyJSON {
    /// Members whose values are texts that users write for each other.
    private static let texts: Set<String> = [
        "body", "metadata", "mime_type", "text", "title", "sound",
    ]

    /// Whether a JSON text names a user: by the user id, as a value or the name of a member, or by an identity id or a URL.
    /// One that cannot be read is searched as ``names(inText:_:)`` does.
    public static func names(_ json: [UInt8], _ user: UserID) -> Bool {
        guard let root = try? JSONDocument(json).root else { return names(inText: json, user) }
        return Names(of: user).occur(in: root)
    }

    /// Whether a text, such as a header or the answer of a receiver, has the path of a user or of the user's identity, or the
    /// user id as a JSON text.
    public static func names(inText text: [UInt8], _ user: UserID) -> Bool {
        Names(of: user).occur(inText: text)
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
        /// The id as a JSON text, with its quotation marks.
        private let quotedID: [UInt8]
        private let paths: [[UInt8]]

        init(of user: UserID) {
            id = Array(user.text.utf8)
            var writer = JSONWriter()
            writer.string(user.text)
            quotedID = writer.finish()
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
            return bytes == id || hasPath(bytes)
        }

        func occur(inText text: [UInt8]) -> Bool {
            hasPath(text) || Self.ends(of: quotedID, in: text).contains { _ in true }
        }

        /// Whether a path occurs that is not the beginning of another user's path.
        private func hasPath(_ text: [UInt8]) -> Bool {
            paths.contains { path in
                Self.ends(of: path, in: text).contains { end in
                    end == text.count || !Self.continuesName(text[end])
                }
            }
        }

        /// The index after each occurrence of a name.
        private static func ends(of name: [UInt8], in text: [UInt8]) -> some Sequence<Int> {
            stride(from: 0, through: text.count - name.count, by: 1).lazy
                .filter { start in
                    text[start] == name[0]
                        && text[start..<start + name.count].elementsEqual(name)
                }.map { start in start + name.count }
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
