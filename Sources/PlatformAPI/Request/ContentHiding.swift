import HTTP
import JSON

/// Replaces the contents of messages in JSON by `"[hidden]"`, for a console that must not show them.
///
/// It replaces the texts of parts, the contents of rich parts with their URLs, the texts of notifications, and the bodies
/// of webhook deliveries. Metadata and the types and sizes of parts stay.
enum ContentHiding {
    /// The members whose values are replaced.
    private static let members: Set<String> = [
        "body", "content", "download_url", "upload_url", "refresh_url", "notification", "response",
    ]

    /// Returns an answer whose JSON hides contents.
    static func hidden(_ response: Response) -> Response {
        guard let bytes = response.content.joinedBytes, !bytes.isEmpty else { return response }
        var response = response
        response.content = .bytes(hidden(bytes))
        return response
    }

    /// Returns JSON that hides contents; bytes that are no JSON become the text that stands for them.
    static func hidden(_ json: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(capacity: json.count)
        if let document = try? JSONDocument(json) {
            write(document.root, into: &writer)
        } else {
            writer.string(placeholder)
        }
        return writer.finish()
    }

    private static let placeholder = "[hidden]"

    private static func write(_ value: JSONValue, into writer: inout JSONWriter) {
        switch value.kind {
        case .object:
            writer.object { writer in
                for (name, value) in value.members {
                    writer.key(name)
                    if members.contains(name), !value.isNull {
                        writer.string(placeholder)
                    } else if name == "metadata" {
                        // Its names are those of the application.
                        writer.raw(value.raw)
                    } else {
                        write(value, into: &writer)
                    }
                }
            }
        case .array:
            writer.array { writer in
                for element in value.elements { write(element, into: &writer) }
            }
        case .string, .number, .bool, .null: writer.raw(value.raw)
        }
    }
}
