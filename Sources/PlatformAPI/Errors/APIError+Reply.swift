import HTTP
import MessagingWire

extension APIError {
    /// The error object with its status and the fields that go with it (H98).
    var reply: Reply {
        // Sent without a body, as the original does (platform-api §1.11).
        guard kind != .rateLimitExceeded else {
            // Only limits of what is open come here, uploads and live streams, and these end when their owner
            // ends them: who asks again does it as seldom as an upload itself would tell him
            // (`UploadError.rateLimited`). A long poll ends by itself and is told a second.
            return Reply(.tooManyRequests).adding("Retry-After", "60")
        }
        let reply = Reply(httpStatus, ErrorJSON.bytes(self))
        switch kind {
        case .authenticationRequired: return reply.adding("WWW-Authenticate", "Bearer")
        case .serviceUnavailable: return reply.adding("Retry-After", "5")
        case .requestInProgress: return reply.adding("Retry-After", "1")
        case .invalidHeader where data == .header("Content-Encoding"):
            return reply.adding("Accept-Encoding", ContentCoding.accepted)
        case .invalidHeader where data == .header("Content-Type") && status != 415:
            return reply.adding("Accept-Patch", PatchType.name)
        default: return reply
        }
    }

    static func unknownEndpoint(_ request: Request) -> APIError {
        APIError(
            .invalidEndpoint,
            "The endpoint '\(request.method.rawValue) \(request.target.path)' does not exist")
    }

    static func methodNotAllowed(_ method: Method) -> APIError {
        APIError(.methodNotAllowed, "The method \(method.rawValue) is not offered here.")
    }

    /// The status with its phrase.
    private var httpStatus: Status {
        switch status {
        case 400: .badRequest
        case 401: .unauthorized
        case 403: .forbidden
        case 404: .notFound
        case 405: .methodNotAllowed
        case 406: .notAcceptable
        case 408: .requestTimeout
        case 409: .conflict
        case 410: .gone
        case 412: .preconditionFailed
        case 413: .contentTooLarge
        case 414: .targetTooLong
        case 415: .unsupportedMediaType
        case 422: .unprocessable
        case 429: .tooManyRequests
        case 503: .serviceUnavailable
        case 507: .insufficientStorage
        default: .internalServerError
        }
    }
}
