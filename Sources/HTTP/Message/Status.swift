/// A response status: a three-digit code and its reason phrase.
public struct Status: Sendable, Hashable {
    /// The code, 100…599.
    public let code: Int
    let phrase: StaticString

    /// Makes a status that is not listed below, such as tus's `460`.
    public init(_ code: Int, _ phrase: StaticString) {
        self.code = code
        self.phrase = phrase
    }

    /// The reason phrase, ASCII.
    public var reason: String { phrase.description }

    /// Equal when the codes are; the phrase has no meaning (RFC 9112 §4).
    public static func == (left: Status, right: Status) -> Bool { left.code == right.code }

    /// Hashes only the code, as `==` compares it.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Whether a response may have content: not for 1xx, 204 and 304 (RFC 9110 §6.4.1).
    public var allowsContent: Bool { code >= 200 && code != 204 && code != 304 }

    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let switchingProtocols = Status(101, "Switching Protocols")
    /// Interim response: the upload can be resumed at `Location`.
    public static let uploadResumptionSupported = Status(104, "Upload Resumption Supported")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let ok = Status(200, "OK")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let created = Status(201, "Created")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let accepted = Status(202, "Accepted")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let noContent = Status(204, "No Content")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let partialContent = Status(206, "Partial Content")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let notModified = Status(304, "Not Modified")
    /// RFC 9110 §15.4.8.
    public static let temporaryRedirect = Status(307, "Temporary Redirect")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let permanentRedirect = Status(308, "Permanent Redirect")
    /// Dialect A's "send more": it uses 308, which RFC 9110 names Permanent Redirect, under this
    /// name.
    public static let resumeIncomplete = Status(308, "Resume Incomplete")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let badRequest = Status(400, "Bad Request")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let unauthorized = Status(401, "Unauthorized")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let forbidden = Status(403, "Forbidden")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let notFound = Status(404, "Not Found")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let methodNotAllowed = Status(405, "Method Not Allowed")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let notAcceptable = Status(406, "Not Acceptable")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let requestTimeout = Status(408, "Request Timeout")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let conflict = Status(409, "Conflict")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let gone = Status(410, "Gone")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let lengthRequired = Status(411, "Length Required")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let preconditionFailed = Status(412, "Precondition Failed")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let contentTooLarge = Status(413, "Content Too Large")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let targetTooLong = Status(414, "URI Too Long")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let unsupportedMediaType = Status(415, "Unsupported Media Type")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let rangeNotSatisfiable = Status(416, "Range Not Satisfiable")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let expectationFailed = Status(417, "Expectation Failed")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let misdirected = Status(421, "Misdirected Request")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let unprocessable = Status(422, "Unprocessable Content")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let upgradeRequired = Status(426, "Upgrade Required")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let tooManyRequests = Status(429, "Too Many Requests")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let fieldsTooLarge = Status(431, "Request Header Fields Too Large")
    /// Dialect A's confirmation that a session was cancelled.
    public static let clientClosedRequest = Status(499, "Client Closed Request")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let internalServerError = Status(500, "Internal Server Error")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let notImplemented = Status(501, "Not Implemented")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let serviceUnavailable = Status(503, "Service Unavailable")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let versionNotSupported = Status(505, "HTTP Version Not Supported")
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let insufficientStorage = Status(507, "Insufficient Storage")
}
