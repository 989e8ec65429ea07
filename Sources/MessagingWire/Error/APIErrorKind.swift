/// The error table: every error of the API (platform-api §2.2, extensions X2–X4).
///
/// Clients depend on ids and codes, so neither is ever reused for another error.
public enum APIErrorKind: CaseIterable, Sendable {
    case serviceUnavailable
    case invalidAppID
    case invalidRequestID
    case authenticationRequired
    case appSuspended
    case userSuspended
    case requestTimeout
    case invalidOperation
    case invalidRequest
    case internalServerError
    case accessDenied
    case notFound
    case objectDeleted
    case missingProperty
    case invalidProperty
    case invalidEndpoint
    case invalidHeader
    case conflict
    case methodNotAllowed
    case participantBlocked
    case idInUse
    case idempotencyKeyReuse
    case requestInProgress
    case positionGone
    case versionMismatch
    case rateLimited
    case quotaExceeded
    case conversationMerged
    case insecureTransport
    case userErased

    /// The `id` and `code` that clients read, and the status of the response.
    public var row: (id: StaticString, code: Int, status: Int) {
        switch self {
        case .serviceUnavailable: ("service_unavailable", 1, 503)
        case .invalidAppID: ("invalid_app_id", 2, 403)
        case .invalidRequestID: ("invalid_request_id", 3, 400)
        case .authenticationRequired: ("authentication_required", 4, 401)
        case .appSuspended: ("app_suspended", 5, 403)
        case .userSuspended: ("user_suspended", 6, 403)
        case .requestTimeout: ("request_timeout", 8, 408)
        case .invalidOperation: ("invalid_operation", 9, 422)
        case .invalidRequest: ("invalid_request", 10, 400)
        case .internalServerError: ("internal_server_error", 100, 500)
        case .accessDenied: ("access_denied", 101, 403)
        case .notFound: ("not_found", 102, 404)
        case .objectDeleted: ("object_deleted", 103, 410)
        case .missingProperty: ("missing_property", 104, 422)
        case .invalidProperty: ("invalid_property", 105, 422)
        case .invalidEndpoint: ("invalid_endpoint", 106, 404)
        case .invalidHeader: ("invalid_header", 107, 406)
        case .conflict: ("conflict", 108, 409)
        case .methodNotAllowed: ("method_not_allowed", 109, 405)
        case .participantBlocked: ("participant_blocked", 110, 422)
        case .idInUse: ("id_in_use", 111, 409)
        // Beyond the original service (extensions X2–X4).
        case .idempotencyKeyReuse: ("idempotency_key_reuse", 112, 422)
        case .requestInProgress: ("request_in_progress", 113, 409)
        case .positionGone: ("position_gone", 114, 410)
        case .versionMismatch: ("version_mismatch", 115, 412)
        // Ruling 34; the original service answers 429 without a body, so its number 7 is unused.
        case .rateLimited: ("rate_limited", 116, 429)
        // The limit of stored bytes of an application.
        case .quotaExceeded: ("quota_exceeded", 117, 507)
        // Positions of a conversation that was merged (Y3).
        case .conversationMerged: ("conversation_merged", 118, 409)
        // Logins to the console without TLS.
        case .insecureTransport: ("insecure_transport", 119, 403)
        // Users that are being erased, and names of erased ones (X16).
        case .userErased: ("user_erased", 120, 409)
        }
    }
}

extension APIErrorKind {
    /// When the error occurs, in a few words, for the API description and the error page.
    public var meaning: String { explanation.meaning }

    /// What the caller can do about the error, as one sentence, for the error page.
    public var remedy: String { explanation.remedy }

    private var explanation: (meaning: String, remedy: String) {
        switch self {
        case .serviceUnavailable, .invalidAppID, .invalidRequestID, .authenticationRequired,
            .appSuspended, .userSuspended, .requestTimeout, .internalServerError, .accessDenied,
            .rateLimited, .quotaExceeded, .insecureTransport:
            ofService
        case .invalidOperation, .invalidRequest, .notFound, .objectDeleted, .missingProperty,
            .invalidProperty, .invalidEndpoint, .invalidHeader, .conflict, .methodNotAllowed,
            .participantBlocked, .idInUse, .idempotencyKeyReuse, .requestInProgress,
            .positionGone, .versionMismatch, .conversationMerged, .userErased:
            ofRequest
        }
    }

    /// The explanation of an error of credentials, limits, or the state of the server.
    private var ofService: (meaning: String, remedy: String) {
        switch self {
        case .serviceUnavailable:
            (
                "a part of the service is unavailable",
                "Retry after the seconds in `Retry-After`, with the same `Idempotency-Key`."
            )
        case .invalidAppID:
            (
                "the token does not belong to this application",
                "Check the application id in the path, or use a token of that application."
            )
        case .invalidRequestID:
            (
                "the key in `If-None-Match` is not a plain UUID, or `Idempotency-Key` is malformed",
                "Send a UUID without quotes in `If-None-Match`, and 1 to 255 visible ASCII characters in `Idempotency-Key`."
            )
        case .authenticationRequired:
            (
                "the request has no valid token",
                "Send `Authorization: Bearer` with a token that is neither expired nor revoked."
            )
        case .appSuspended:
            (
                "the application is suspended",
                "The operator of the server can resume the application."
            )
        case .userSuspended:
            ("the user is suspended", "A patch of the user can set `suspended` to false.")
        case .requestTimeout:
            (
                "the request arrived too slowly",
                "Send it again over a connection that is fast enough."
            )
        case .internalServerError:
            (
                "an unexpected error happened in the server",
                "Retry once; report the `X-Request-Id` of the answer to the operator if it happens again."
            )
        case .accessDenied:
            (
                "the token or the user does not have this permission",
                "Use a token with a higher scope, or act for a user that takes part."
            )
        case .rateLimited:
            (
                "a limit of requests, streams or open uploads is reached",
                "Retry after the seconds in `Retry-After`; the message names the limit."
            )
        case .insecureTransport:
            (
                "a login to the console arrived without TLS from another machine",
                "Use https, or a tunnel such as `ssh -L 8080:127.0.0.1:8080 HOST`; `console.allow_http` allows it."
            )
        default:
            (
                "the application would store more bytes than its quota allows",
                "Delete contents, or ask the operator for a higher quota."
            )
        }
    }

    /// The explanation of an error of the request, or of the state of its target.
    private var ofRequest: (meaning: String, remedy: String) {
        switch self {
        case .invalidOperation:
            ("the operation is not possible here", "The message says which rule it breaks.")
        case .invalidRequest:
            (
                "the request cannot be read",
                "Send valid JSON in UTF-8 with the top-level type that the endpoint takes."
            )
        case .notFound:
            (
                "the object does not exist, or is not visible to the user",
                "Check the ids in the path; a deleted message is not found either."
            )
        case .objectDeleted:
            ("the conversation has been deleted", "Do not use its id any longer.")
        case .missingProperty:
            ("a required member is missing", "Add the member that `data.property` names.")
        case .invalidProperty:
            (
                "a member or parameter has an invalid value",
                "Correct what `data.property` names; the message states the rule."
            )
        case .invalidEndpoint:
            (
                "the path does not exist in this version",
                "Compare the path with `/openapi.json` of the version."
            )
        case .invalidHeader:
            (
                "a header has an invalid value",
                "Correct what `data.header` names; the message lists the values that are accepted."
            )
        case .conflict:
            (
                "the distinct conversation exists with other metadata",
                "Use the conversation in `data`, or create it with the same metadata."
            )
        case .methodNotAllowed:
            ("the path does not offer the method", "Use one of the methods in `Allow`.")
        case .participantBlocked:
            (
                "one participant blocks another",
                "Leave one of them out, or remove the block."
            )
        case .idInUse:
            ("the id is taken", "Use the object in `data`, or send another id.")
        case .idempotencyKeyReuse:
            (
                "the `Idempotency-Key` was used for another request",
                "Use a new key for each new request; repeat a request without any change."
            )
        case .requestInProgress:
            (
                "the first request with this `Idempotency-Key` is still running",
                "Retry after the seconds in `Retry-After`."
            )
        case .conversationMerged:
            (
                "the conversation was merged into another one, where its messages have other positions",
                "Receive the feed, then send the positions in the conversation that `data` names."
            )
        case .userErased:
            (
                "the user is being erased, or the id is the name of an erased user",
                "Retry when the erasure has ended. Ids of the form `erased-{number}` are reserved; use another id."
            )
        case .positionGone:
            (
                "the event log no longer keeps that position",
                "Read the objects again, then continue at the position in `data`."
            )
        default:
            (
                "the object has changed since the version in `If-Match`",
                "Apply the change to the object in `data`, and send its new version."
            )
        }
    }
}
