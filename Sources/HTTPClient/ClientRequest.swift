public import HTTP

/// A request to another server.
public struct ClientRequest: Sendable {
    /// Its method.
    public var method: Method
    /// `http` or `https`, absolute, with everything in it percent-encoded; the path is sent as it is.
    public var url: String
    /// Field lines in the order they are sent; `Host` and `Content-Length` are added, and no `Expect`:
    /// who adds one may get the head of a 417 and behind it the body of another answer.
    public var fields: [(name: String, value: String)]
    /// What is sent after the head.
    public var body: ClientBody
    /// How long reaching the server may take, from the look-up of its name to the end of TLS's handshake.
    public var connectTimeout: Duration = .seconds(10)
    /// How long all of it may take; `nil`: as long as something moves.
    public var totalTimeout: Duration?
    /// How long its answer may take, to the last byte, once the last byte of its body was handed to the
    /// connection; `nil`: no bound of its own. It is for requests with a body.
    public var responseTimeout: Duration?
    /// How long nothing may move in either direction, in whole seconds.
    public var stallTimeout: Duration = .seconds(30)
    /// Called with the number of bytes of the body handed to the connection so far; quick, on a
    /// thread of the client's.
    public var onBytesSent: (@Sendable (Int64) -> Void)?

    /// Makes a request.
    public init(
        _ method: Method, _ url: String, fields: [(name: String, value: String)] = [],
        body: ClientBody = .none
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}

/// What a request carries.
public enum ClientBody: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case bytes([UInt8])
    /// A number of bytes that are read while they are sent, by position, and again where a broken
    /// connection is tried anew.
    ///
    /// `read` is given how many bytes at most and from where; it returns fewer only at the end. It may
    /// wait for the disk: it runs on the client's own thread.
    case stored(Int64, read: @Sendable (_ count: Int, _ position: Int64) throws -> [UInt8])

    /// How many bytes it has; `nil` where there is no body.
    public var count: Int64? {
        switch self {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        case .stored(let count, _): count
        }
    }
}

extension ClientRequest {
    /// Whether it can be sent as it is: no URL and no field may end its line and begin another.
    ///
    /// - Throws: `invalidRequest`.
    func check() throws(HTTPClientError) {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw HTTPClientError(.invalidRequest, "the URL is neither http nor https")
        }
        guard url.utf8.allSatisfy({ byte in byte > 0x20 && byte < 0x7F }) else {
            throw HTTPClientError(.invalidRequest, "the URL has bytes to be percent-encoded")
        }
        for field in fields {
            let isWhole = (field.name + field.value).utf8.allSatisfy { byte in
                byte >= 0x20 && byte != 0x7F || byte == 0x09
            }
            guard isWhole, !field.name.isEmpty else {
                throw HTTPClientError(
                    .invalidRequest, "the field \(field.name) has a control character")
            }
        }
    }
}
