public import JSON

/// An error response: its row of the error table, its message, and the member, header or object that it refers to.
public struct APIError: Error, Equatable, Sendable {
    /// The content of the member `data` of the error object (platform-api §2.1).
    public enum Detail: Equatable, Sendable {
        /// `{"property": name}`: the invalid member, query parameter or upload header.
        case property(String)
        /// `{"header": name}`: the invalid request header.
        case header(String)
        /// `{"position": number}`: the first position in the log (X3).
        case position(Int64)
        /// `{"line": number, "property": name}`: the line of an import and its invalid member, if any
        /// (X10).
        case line(Int, property: String?)
        /// `{"property": name, "reason": diagnostic}`: the invalid member, and why (client-api §2.2).
        case reason(String, property: String)
        /// `{"nonce": nonce}`: a nonce for a new identity token (client-api §2.4).
        case nonce(String)
        /// The complete object that the request conflicts with, as JSON.
        case object([UInt8])
    }

    /// The row of the error table.
    public let kind: APIErrorKind
    /// One sentence for developers; never the text of an internal fault.
    public let message: String
    /// The member, header or object that the error refers to.
    public let data: Detail?
    /// The status of the answer: that of the error table unless the error has another, such as 413, 415 or 507.
    public let status: Int
    /// The seconds after which the request may be repeated; `nil` if no time is known.
    public let retryAfter: Int?
    /// The challenge of a 401 for its `WWW-Authenticate` header (RFC 6750 section 3).
    public let challenge: String?

    /// Creates an error; `nil` for `status` means that of the error table.
    public init(
        _ kind: APIErrorKind, _ message: String, data: Detail? = nil, status: Int? = nil,
        retryAfter: Int? = nil, challenge: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.data = data
        self.status = status ?? kind.row.status
        self.retryAfter = retryAfter
        self.challenge = challenge
    }

    /// 429: a limit is reached (ruling 34).
    ///
    /// - Parameters:
    ///   - limit: One sentence that names the limit in force.
    ///   - seconds: The seconds after which the request may be repeated; the text and `Retry-After` state them.
    public static func rateLimited(_ limit: String, retryAfter seconds: Int) -> APIError {
        let delay = seconds == 1 ? "1 second" : "\(seconds) seconds"
        return APIError(.rateLimited, "\(limit) Retry after \(delay).", retryAfter: seconds)
    }
}

/// The error object (platform-api §2.1): `id`, `code`, `message`, `url`, and `data` where useful.
public enum ErrorJSON {
    /// The path of the page that explains each error, below the public base (ruling 32).
    public static let page = "/docs/errors"

    /// Returns the `url` of an error: its section of the page that this server serves (ruling 32).
    ///
    /// - Parameter publicBase: The public base of this server, without a slash at its end.
    public static func url(of kind: APIErrorKind, publicBase: String) -> String {
        "\(publicBase)\(page)#\(kind.row.id)"
    }

    /// Returns the body of an error response.
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
        case .reason(let reason, let name):
            writer.object { writer in
                writer.member("property", name)
                writer.member("reason", reason)
            }
        case .nonce(let nonce): writer.object { $0.member("nonce", nonce) }
        case .object(let json): writer.raw(json)
        }
    }
}

extension ErrorJSON {
    /// The schema of the error object (platform-api §2.1).
    public static let schema = JSONSchema.named(
        "Error",
        .object([
            .required("id", .choice(APIErrorKind.allCases.map { $0.row.id.description })),
            .required("code", .integer(1 ... .max)),
            .required("message", JSONSchema.string.withDescription("One sentence for developers.")),
            .required("url", .url),
            .optional(
                "data",
                JSONSchema.object([]).withDescription(
                    "The invalid `property` or `header`, or the object that the request conflicts with."
                )),
        ]))
}
