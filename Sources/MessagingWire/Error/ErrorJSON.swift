import JSON

/// The error object (platform-api §2.1): `id`, `code`, `message`, `url`, and `data` where useful.
public enum ErrorJSON {
    /// The path of the page that explains each error, below the public base (ruling 32).
    public static let page = "/docs/errors"

    /// The `url` of an error: its row on the page that this server serves (ruling 32).
    ///
    /// - Parameter publicBase: The public base of this server, without a slash at its end.
    public static func url(of kind: APIErrorTable, publicBase: String) -> String {
        "\(publicBase)\(page)#\(kind.row.id)"
    }

    /// The whole answer body for an error.
    ///
    /// - Parameter publicBase: The public base of this server, without a slash at its end.
    public static func bytes(_ error: APIError, publicBase: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        let row = error.kind.row
        writer.object { writer in
            writer.member("id", row.id.description)
            writer.member("code", row.code)
            writer.member("message", error.message)
            writer.member("url", url(of: error.kind, publicBase: publicBase))
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
