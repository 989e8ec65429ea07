public import HTTP

/// A request to another server.
public struct ClientRequest: Sendable {
    /// The method.
    public var method: Method
    /// An absolute `http` or `https` URL, percent-encoded; the path is sent unchanged.
    public var url: String
    /// The headers in the order they are sent. `Host` and `Content-Length` are added. `Expect` is not: after
    /// a 417 libcurl would repeat the request, and the caller would get the head of the first response with
    /// the body of the second.
    public var fields: [(name: String, value: String)]
    /// The body.
    public var body: ClientBody
    /// The time limit for connecting, from resolving the name to the end of the TLS handshake.
    public var connectTimeout: Duration = .seconds(10)
    /// The time limit for the whole request; `nil` for none.
    public var totalTimeout: Duration?
    /// The time limit for the whole response, counted from the moment when the last byte of the request's body
    /// was handed to the connection; `nil` for none. For requests with a body.
    public var responseTimeout: Duration?
    /// The longest time without any byte in either direction, in whole seconds.
    public var stallTimeout: Duration = .seconds(30)
    /// Called with the number of bytes of the body handed to the connection so far, on a thread of the
    /// client; it must return quickly.
    public var onBytesSent: (@Sendable (Int64) -> Void)?

    /// Creates a request.
    public init(
        _ method: Method, _ url: String, fields: [(name: String, value: String)] = [],
        body: ClientBody = .none
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }

    /// Validates the URL and the headers, so that none of them can contain a further line.
    ///
    /// - Throws: `invalidRequest`.
    func validate() throws(HTTPClientError) {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw HTTPClientError(.invalidRequest, "the URL is neither http nor https")
        }
        guard url.utf8.allSatisfy({ byte in byte > 0x20 && byte < 0x7F }) else {
            throw HTTPClientError(.invalidRequest, "the URL has bytes that must be percent-encoded")
        }
        for field in fields {
            let isValid = (field.name + field.value).utf8.allSatisfy { byte in
                byte >= 0x20 && byte != 0x7F || byte == 0x09
            }
            guard isValid, !field.name.isEmpty else {
                throw HTTPClientError(
                    .invalidRequest, "the header \(field.name) has a control character or no name")
            }
        }
    }
}

/// The body of a request.
public enum ClientBody: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case bytes([UInt8])
    /// A number of bytes that are read while they are sent; they are read again when the request is repeated
    /// over a new connection.
    ///
    /// `read` gets the maximum number of bytes and the position; it returns fewer bytes only at the end. It
    /// may block on the disk: it runs on the client's own thread.
    case stored(Int64, read: @Sendable (_ count: Int, _ position: Int64) throws -> [UInt8])

    /// The size in bytes; `nil` when there is no body.
    public var count: Int64? {
        switch self {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        case .stored(let count, _): count
        }
    }
}
