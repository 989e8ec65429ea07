import JSON

/// The error object (platform-api §2.1): `id`, `code`, `message`, `url`, and `data` where useful.
public enum ErrorJSON {
    /// The whole answer body for an error.
    public static func bytes(_ error: APIError) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        let row = error.kind.row
        writer.object { writer in
            writer.member("id", row.id.description)
            writer.member("code", row.code)
            writer.member("message", error.message)
            writer.member("url", error.family.documentation)
            guard let data = error.data else { return }
            writer.key("data")
            write(data, into: &writer)
        }
        return writer.finish()
    }

    private static func write(_ data: APIError.Detail, into writer: inout JSONWriter) {
        switch data {
        case .property(let name): writer.object { $0.member("property", name) }
        case .header(let name): writer.object { $0.member("header", name) }
        case .position(let number): writer.object { $0.member("position", number) }
        case .line(let number, let name):
            writer.object { writer in
                writer.member("line", number)
                if let name { writer.member("property", name) }
            }
        case .object(let json): writer.raw(json)
        }
    }
}
