internal import HTTP
internal import HTTPClient

/// The failure of one attempt, and how to continue.
struct AttemptFailure: Error {
    let error: ObjectStoreError
    /// Whether another attempt may succeed (§10.3).
    var isRetryable = false
    /// Whether the store did not answer in time.
    var isTimeout = false
    /// The store's time in milliseconds since 1970, if it rejected this machine's clock.
    var storeTime: Int64?

    /// No response, or one that broke off.
    init(_ error: HTTPClientError, in operation: String) {
        let (kind, isRetryable): (ObjectStoreError.Kind, Bool) =
            switch error.kind {
            case .unresolved, .unreachable, .timedOut, .broken: (.unreachable, true)
            case .unavailable, .refusedAddress: (.unreachable, false)
            case .insecure: (.untrusted, false)
            case .invalidRequest: (.invalid, false)
            case .tooLarge: (.unexpected, false)
            case .unreadableBody: (.unreadableBody, false)
            case .cancelled: (.cancelled, false)
            }
        self.error = ObjectStoreError(kind, operation, words: error.description)
        self.isRetryable = isRetryable
        isTimeout = error.kind == .timedOut
    }

    /// A successful response that cannot be read; the next one may be readable.
    init(_ fault: XMLError, status: Int, in operation: String) {
        error = ObjectStoreError(
            .unexpected, operation, status: status,
            words: "the answer cannot be read: \(fault)")
        isRetryable = true
    }

    /// A response that ended `rest` bytes too early.
    init(endingBefore rest: Int64, in operation: String) {
        error = ObjectStoreError(
            .unreachable, operation, words: "the answer ended \(rest) bytes too early")
        isRetryable = true
    }

    /// A response without a required header.
    init(lacking field: String, status: Int, in operation: String) {
        error = ObjectStoreError(
            .unexpected, operation, status: status, words: "the answer has no sound \(field)")
    }

    /// An error response: classified by its document, if it is a store's, otherwise by its status
    /// (§10.3).
    init(
        status: Int, fields: Fields, body: [UInt8], in operation: String, at address: BucketAddress
    ) {
        let document = ErrorDocument(body)
        let kind = Self.kind(status: status, code: document?.code, region: document?.region)
        let place = "\(address.bucket) at \(address.host)"
        let region = (document?.region ?? fields["x-amz-bucket-region"]).map { "; it is in \($0)" }
        let words =
            switch kind {
            case .missingBucket: "there is no bucket \(place)"
            case .wrongRegion:
                "the bucket \(place) requires another region or endpoint" + (region ?? "")
            case .invalidCredentials: "the access key, its secret or its token is invalid"
            case .accessDenied: "the access key may not do this in bucket \(place)"
            case .clockSkew: "the clock of this machine and the store's differ by too much"
            case .missingObject: "there is no such object"
            case .missingUpload: "there is no such multipart upload"
            case .unexpected:
                document == nil
                    ? "the response is not from an object store" : "the store refused the request"
            case .busy: "the store is overloaded or has a fault"
            default: "the store refused the request"
            }
        let answer = document.map { "; it answered: " + Self.clean($0.message) } ?? ""
        error = ObjectStoreError(
            kind, operation, status: status, code: document.map { Self.clean($0.code) },
            words: words + answer)
        isRetryable = kind == .busy || kind == .unreachable
        if kind == .clockSkew {
            storeTime = fields["Date"].flatMap(HTTPDate.parse).map { seconds in seconds * 1000 }
        }
    }

    private static func kind(status: Int, code: String?, region: String?) -> ObjectStoreError.Kind {
        switch code {
        case nil: kind(status: status)
        case "NoSuchBucket": .missingBucket
        case "PermanentRedirect", "TemporaryRedirect", "Redirect",
            "IllegalLocationConstraintException":
            .wrongRegion
        case "AuthorizationHeaderMalformed", "AuthorizationQueryParametersError":
            region == nil ? .invalidCredentials : .wrongRegion
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
            "TokenRefreshRequired", "InvalidSecurity":
            .invalidCredentials
        case "AccessDenied", "AllAccessDisabled", "AccountProblem": .accessDenied
        case "RequestTimeTooSkewed": .clockSkew
        case "NoSuchKey": .missingObject
        case "NoSuchUpload": .missingUpload
        case "EntityTooSmall": .partTooSmall
        case "InvalidPart", "InvalidPartOrder": .invalidParts
        case "EntityTooLarge": .tooLarge
        case "InvalidRange": .unsatisfiableRange
        case "BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch",
            "XAmzContentChecksumMismatch":
            .damaged
        case "PreconditionFailed", "ConditionalRequestConflict": .preconditionFailed
        case "IncompleteBody": .unreachable
        case "SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout",
            "OperationAborted",
            "Busy":
            .busy
        default: kind(status: status)
        }
    }

    /// The kind for a status alone. A 404 without a store's document may come from a proxy or a
    /// wrong endpoint: it says nothing about an object (§10.3).
    private static func kind(status: Int) -> ObjectStoreError.Kind {
        switch status {
        case 301, 307, 308: .wrongRegion
        case 401, 403: .accessDenied
        case 412: .preconditionFailed
        case 413: .tooLarge
        case 416: .unsatisfiableRange
        case 429, 500, 502, 503, 504: .busy
        default: .unexpected
        }
    }

    /// The store's text, made safe for a log line.
    private static func clean(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(300).map { scalar in
                    scalar.properties.generalCategory == .control ? " " : scalar
                }))
    }
}

/// `<Error>`: the document of an error response, sometimes sent with status 200 (§10.3).
struct ErrorDocument: Equatable {
    /// The error code, such as `NoSuchKey`.
    var code = ""
    /// The store's own message.
    var message = ""
    /// The bucket's region, when a request went to another one.
    var region: String?

    /// `nil` for any other document, such as a proxy's error page.
    init?(_ bytes: [UInt8]) {
        // Without a readable document the status decides.
        guard let read = try? Self.read(bytes), !read.code.isEmpty else { return nil }
        self = read
    }

    private init() {}

    private static func read(_ bytes: [UInt8]) throws(XMLError) -> ErrorDocument? {
        var reader = try XMLReader(bytes)
        guard try reader.root() == "Error" else { return nil }
        var error = ErrorDocument()
        while let name = try reader.child() {
            switch name {
            case "Code": error.code = try reader.text()
            case "Message": error.message = try reader.text()
            case "Region": error.region = try reader.text()
            default: try reader.skip()
            }
        }
        try reader.finish()
        return error
    }
}

/// The delay before another attempt: doubled each time, minus a random share of up to a half, so
/// that clients rejected together do not retry together (§10.3).
struct Backoff: Sendable {
    /// In milliseconds.
    let first: Int64
    /// In milliseconds.
    let longest: Int64

    /// The delay after a number of attempts, in milliseconds.
    func wait(after attempts: Int, random: (ClosedRange<Int64>) -> Int64) -> Int64 {
        let doublings = min(attempts - 1, 30)
        let whole = min(longest, first << Int64(doublings))
        return whole - random(0...(whole / 2))
    }
}
