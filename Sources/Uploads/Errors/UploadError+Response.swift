internal import HTTP

extension UploadError {
    /// The answer, before the fields every answer of the resource carries.
    var response: Response {
        let wording = wording
        var response = Response(
            wording.status, "application/json",
            ErrorJSON.bytes(
                wording.status, reason: wording.reason, message: wording.message))
        if let seconds = wording.retryAfter { response.fields.add("Retry-After", "\(seconds)") }
        switch self {
        case .unauthenticated: response.fields.add("WWW-Authenticate", "Bearer")
        case .stalled: response.ending = .close
        case .codedBody: response.fields.add("Accept-Encoding", "identity")
        default: break
        }
        return response
    }
}
