/// Every error the API can answer, each once (platform-api §2.2, extensions X2–X4).
///
/// Identifiers and codes are known to clients: a number is never given out again.
public enum APIErrorTable: CaseIterable, Sendable {
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

    /// What a client reads in `id` and `code`, and the status the error comes with.
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
        }
    }
}
