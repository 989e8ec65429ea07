extension APIErrorTable {
    /// When it is answered, in a few words for people (platform-api §2.2).
    public var meaning: String {
        switch self {
        case .serviceUnavailable: "a part of the service is away; try again"
        case .invalidAppID: "the token does not belong to this application"
        case .invalidRequestID: "the key in `If-None-Match` is no plain UUID"
        case .authenticationRequired: "no valid token"
        case .appSuspended: "the application is suspended"
        case .userSuspended: "the user is suspended"
        case .rateLimitExceeded: "too many requests"
        case .requestTimeout: "the request arrived too slowly"
        case .invalidOperation: "the operation makes no sense here"
        case .invalidRequest: "the request cannot be read"
        case .internalServerError: "something unexpected happened"
        case .accessDenied: "the caller may not do that"
        case .notFound: "there is no such object, or it is not visible"
        case .objectDeleted: "the conversation has been deleted"
        case .missingProperty: "a required member is missing"
        case .invalidProperty: "a member has a value that does not do"
        case .invalidEndpoint: "there is no such path"
        case .invalidHeader: "a header field does not do"
        case .conflict: "a distinct conversation exists with other metadata"
        case .methodNotAllowed: "the path does not offer the method"
        case .participantBlocked: "a participant has been blocked by the creator"
        case .idInUse: "the id is taken; `data` holds the object"
        case .idempotencyKeyReuse: "the key came with another request before"
        case .requestInProgress: "the request of the key is not finished"
        case .positionGone: "the log is not kept from there on; `data` says from where"
        case .versionMismatch: "the object has changed; `data` holds it"
        case .quotaExceeded: "the application would hold more bytes than it may"
        }
    }
}
