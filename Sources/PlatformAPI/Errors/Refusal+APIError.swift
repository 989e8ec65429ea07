import HTTP
import MessagingWire

extension APIError {
    /// A message the HTTP layer refuses: always a structural mistake, with the layer's own status.
    init(_ refusal: Refusal) {
        let kind: APIErrorTable =
            switch refusal.status {
            case .requestTimeout: .requestTimeout
            case .tooManyRequests: .rateLimited
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
    /// The answer to a body that did not arrive whole; its connection cannot be used again.
    ///
    /// - Parameter limit: The most bytes that the endpoint takes.
    init(_ error: BodyError, limit: Int64, publicBase: String) {
        switch error {
        case .refused(let refusal) where refusal.status == .contentTooLarge:
            self = BodyReading.tooLarge(limit, String(refusal.reason.dropLast()))
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
