internal import HTTP

extension UploadError {
    /// The answer, before the fields every answer of the resource carries.
    func response(_ settings: UploadSettings) -> Response {
        let wording = wording(settings)
        var response = Response(
            wording.status, "application/json",
            ErrorJSON.bytes(
                wording.status, wording.kind, reason: wording.reason, message: wording.message,
                page: settings.errorPage))
        addFields(wording, to: &response)
        if self == .stalled { response.ending = .close }
        return response
    }

    /// The headers that the error has in every protocol.
    func addFields(_ wording: Wording, to response: inout Response) {
        if let seconds = wording.retryAfter { response.fields.add("Retry-After", "\(seconds)") }
        switch self {
        case .unauthenticated: response.fields.add("WWW-Authenticate", "Bearer")
        case .codedBody: response.fields.add("Accept-Encoding", "identity")
        case .methodNotAllowed(let methods, _): response.fields.add("Allow", methods)
        default: break
        }
    }
}
