import HTTP
import MessagingWire

extension APIError {
    /// The error object with its status and the headers that go with it (H98).
    ///
    /// - Parameter publicBase: The public base of this server, which its `url` begins with.
    func reply(publicBase: String) -> Reply {
        let reply = Reply(httpStatus, ErrorJSON.bytes(self, publicBase: publicBase))
        if let retryAfter { return reply.adding("Retry-After", String(retryAfter)) }
        if let challenge { return reply.adding("WWW-Authenticate", challenge) }
        switch kind {
        case .authenticationRequired:
            guard case .nonce(let nonce) = data else {
                return reply.adding("WWW-Authenticate", "Bearer")
            }
            return reply.adding("WWW-Authenticate", "Layer nonce=\"\(nonce)\"")
        case .serviceUnavailable: return reply.adding("Retry-After", "5")
        case .requestInProgress, .rateLimited: return reply.adding("Retry-After", "1")
        case .invalidHeader where data == .header("Content-Encoding"):
            return reply.adding("Accept-Encoding", ContentCoding.accepted)
        case .invalidHeader where data == .header("Content-Type") && status != 415:
            return reply.adding("Accept-Patch", PatchType.name)
        default: return reply
        }
    }

    /// The same as a response.
    func response(publicBase: String) -> Response { reply(publicBase: publicBase).response }

    static func unknownEndpoint(_ request: Request) -> APIError {
        APIError(
            .invalidEndpoint,
            "The endpoint '\(request.method.rawValue) \(request.target.path)' does not exist")
    }

    /// - Parameters:
    ///   - method: The name of the refused method.
    ///   - allowed: The methods that the path offers, as `Allow` lists them; may be empty.
    static func methodNotAllowed(_ method: String, allowed: String) -> APIError {
        let offer = allowed.isEmpty ? "no method in this version" : allowed
        return APIError(
            .methodNotAllowed, "\(method) is not offered here; the path offers \(offer).")
    }

    /// The status with its reason phrase.
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

extension APIError {
    /// The error of a message that the HTTP layer refuses, with the status that this layer chose.
    init(_ refusal: Refusal) {
        let kind: APIErrorKind =
            switch refusal.status {
            case .requestTimeout: .requestTimeout
            case .tooManyRequests: .rateLimited
            case .methodNotAllowed: .methodNotAllowed
            case .serviceUnavailable: .serviceUnavailable
            case .internalServerError: .internalServerError
            default: .invalidRequest
            }
        self.init(kind, refusal.reason, status: refusal.status.code)
    }

    /// A path that cannot be decoded (H58, H61, H62).
    init(_ fault: RequestTarget.Fault) {
        switch fault {
        case .malformed: self.init(.invalidRequest, "The path of the URL cannot be decoded.")
        case .tooLong:
            self.init(.invalidRequest, "The path of the URL is too long.", status: 414)
        }
    }
}

extension Response {
    /// The answer to a body that could not be received completely; the connection is closed.
    ///
    /// - Parameter limit: The most bytes that the endpoint takes.
    init(_ error: BodyError, limit: Int64, publicBase: String) {
        switch error {
        case .refused(let refusal) where refusal.status == .contentTooLarge:
            self = RequestBodyReader.tooLarge(limit, String(refusal.reason.dropLast()))
                .response(publicBase: publicBase)
            ending = .close
        case .refused(let refusal):
            self = APIError(refusal).response(publicBase: publicBase)
            status = refusal.status
            ending = .close
        case .stalled:
            self = APIError(.requestTimeout, "The body arrived too slowly.")
                .response(publicBase: publicBase)
            ending = .close
        case .interrupted, .superseded:
            self = .dropped
        }
    }
}
