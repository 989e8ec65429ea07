internal import HTTP

/// The version of tus spoken here, and what is offered in it (§6.1, §6.2).
enum TusProtocol {
    static let version = "1.0.0"
    /// The media type of a body that is upload data.
    static let mediaType = "application/offset+octet-stream"
    /// The trailer a checksum may come in.
    static let trailer: FieldName = "Upload-Checksum"

    private static let extensions = [
        "creation", "creation-with-upload", "creation-defer-length", "expiration", "checksum",
        "checksum-trailer", "termination", "concatenation",
    ].joined(separator: ",")
    private static let algorithms = DigestAlgorithm.tus.map(\.name).joined(separator: ",")

    /// Says what is offered, in an answer to `OPTIONS`.
    static func describe(in fields: inout ResponseFields, maxSize: Int64) {
        fields.add("Tus-Resumable", version)
        fields.add("Tus-Version", version)
        fields.add("Tus-Extension", extensions)
        fields.add("Tus-Max-Size", "\(maxSize)")
        fields.add("Tus-Checksum-Algorithm", algorithms)
    }

    /// Why a request is not processed at all: it speaks another version, or none (§6.1).
    static func refusal(of request: Request, _ settings: UploadSettings) -> Response? {
        let versions = request.fields.values("Tus-Resumable")
        if versions.count > 1 {
            return response(to: .repeated("Tus-Resumable"), settings)
        }
        guard versions.first != version else { return nil }
        var response = error(
            .preconditionFailed, reason: "invalid",
            "Tus-Resumable must be \(version); send this version in every request.")
        response.fields.add("Tus-Version", version)
        return response
    }

    /// Whether a body is upload data; parameters of its media type are not looked at (§6.3).
    static func isData(_ fields: Fields) -> Bool {
        fields["Content-Type"].map { MediaType(untrusted: $0).essence } == mediaType
    }

    /// Every answer says which version it is in.
    static func answer(_ status: Status, content: Content = .none) -> Response {
        var response = Response(status, content: content)
        response.fields.add("Tus-Resumable", version)
        return response
    }

    /// One line for a person (§3.9).
    static func error(_ status: Status, reason: String, _ message: String) -> Response {
        var response = answer(status, content: .bytes(Array("\(reason): \(message)".utf8)))
        response.fields.add("Content-Type", "text/plain; charset=utf-8")
        return response
    }
}
