internal import HTTP

extension Fault {
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
            case .wrongCredentials: "the access key, its secret or its token is not right"
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
        isPassing = kind == .busy || kind == .unreachable
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
            region == nil ? .wrongCredentials : .wrongRegion
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
            "TokenRefreshRequired", "InvalidSecurity":
            .wrongCredentials
        case "AccessDenied", "AllAccessDisabled", "AccountProblem": .accessDenied
        case "RequestTimeTooSkewed": .clockSkew
        case "NoSuchKey": .missingObject
        case "NoSuchUpload": .missingUpload
        case "EntityTooSmall": .partTooSmall
        case "InvalidPart", "InvalidPartOrder": .wrongParts
        case "EntityTooLarge": .tooLarge
        case "InvalidRange": .unsatisfiableRange
        case "BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch",
            "XAmzContentChecksumMismatch":
            .damaged
        case "PreconditionFailed", "ConditionalRequestConflict": .lostRace
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
        case 412: .lostRace
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
