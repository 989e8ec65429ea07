internal import HTTP
internal import HTTPClient

/// What went wrong with one attempt, and what to do about it.
struct AttemptFailure: Error {
    let error: ObjectStoreError
    /// Whether another attempt may help (§10.3).
    var isRetryable = false
    /// Whether nothing was said for as long as the store may take.
    var isTimeout = false
    /// The store's clock, in milliseconds since 1970, where it says that ours is off.
    var storeTime: Int64?

    /// No answer, or one that broke off.
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

    /// An answer that does what was asked, and makes no sense; the next one may.
    init(_ fault: XMLError, status: Int, in operation: String) {
        error = ObjectStoreError(
            .unexpected, operation, status: status,
            words: "the answer cannot be read: \(fault)")
        isRetryable = true
    }

    /// An answer that ended before so many bytes that should have come.
    init(endingBefore rest: Int64, in operation: String) {
        error = ObjectStoreError(
            .unreachable, operation, words: "the answer ended \(rest) bytes too early")
        isRetryable = true
    }

    /// An answer that lacks a field.
    init(lacking field: String, status: Int, in operation: String) {
        error = ObjectStoreError(
            .unexpected, operation, status: status, words: "the answer has no sound \(field)")
    }
}

extension AttemptFailure {
    /// An answer that says no: by its document if it has one of a store, else by its status (§10.3).
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
                "the bucket \(place) wants another region or endpoint" + (region ?? "")
            case .invalidCredentials: "the access key, its secret or its token is not right"
            case .accessDenied: "the access key may not do this in bucket \(place)"
            case .clockSkew: "the clock of this machine and the store's differ by too much"
            case .missingObject: "there is no such object"
            case .missingUpload: "there is no such multipart upload"
            case .unexpected: document == nil ? "this is no answer of a store" : "the store says no"
            case .busy: "the store is overloaded or has a fault"
            default: "the store says no"
            }
        let said = document.map { ", it says: " + Self.clean($0.message) } ?? ""
        error = ObjectStoreError(
            kind, operation, status: status, code: document.map { Self.clean($0.code) },
            words: words + said)
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

    /// Of a status alone. A 404 of this kind comes from a proxy or a wrong endpoint as well: it says
    /// nothing about an object (§10.3).
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

    /// What a store wrote, fit for a log line.
    private static func clean(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(300).map { scalar in
                    scalar.properties.generalCategory == .control ? " " : scalar
                }))
    }
}

/// `<Error>`: what a store says when it does not do what was asked; in a 200 too (§10.3).
struct ErrorDocument: Equatable {
    /// Such as `NoSuchKey`.
    var code = ""
    /// A sentence of the store's own.
    var message = ""
    /// Where the bucket is, when a request came to another region.
    var region: String?

    /// `nil` for a document of another kind, also one that is none: a proxy's page.
    init?(_ bytes: [UInt8]) {
        // A faulty document says nothing, and the status decides.
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
            default: try reader.pass()
            }
        }
        try reader.finish()
        return error
    }
}

/// How long to wait before another attempt: twice as long each time, and by chance up to half of that
/// less, so that clients the store turned away together do not come back together (§10.3).
struct Backoff: Sendable {
    /// Milliseconds.
    let first: Int64
    /// Milliseconds.
    let longest: Int64

    /// The wait after so many attempts, in milliseconds.
    func wait(after attempts: Int, random: (ClosedRange<Int64>) -> Int64) -> Int64 {
        let doublings = min(attempts - 1, 30)
        let whole = min(longest, first << Int64(doublings))
        return whole - random(0...(whole / 2))
    }
}
