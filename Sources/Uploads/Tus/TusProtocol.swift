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

extension TusProtocol {
    /// `HEAD` of an upload (§6.4).
    ///
    /// - Throws: ``UploadError/gone`` for one that has ended without a content.
    static func status(_ record: UploadRecord) throws(UploadError) -> Response {
        if record.state.isGone { throw .gone }
        var response = answer(.ok, content: .withheld)
        response.fields.add("Upload-Offset", "\(record.offset)")
        if let length = record.length {
            response.fields.add("Upload-Length", "\(length)")
        } else {
            response.fields.add("Upload-Defer-Length", "1")
        }
        if let metadata = record.tus.metadata { response.fields.add("Upload-Metadata", metadata) }
        if let concat = record.tus.concat { response.fields.add("Upload-Concat", concat) }
        addExpiry(of: record, to: &response)
        return response
    }

    /// `PATCH` was taken: exactly 204, because one client compares with that (§6.5).
    static func accepted(_ record: UploadRecord) -> Response {
        var response = answer(.noContent)
        response.fields.add("Upload-Offset", "\(record.offset)")
        addExpiry(of: record, to: &response)
        return response
    }

    /// An upload was created (§6.3).
    static func created(_ record: UploadRecord, at url: String) -> Response {
        var response = answer(.created)
        response.fields.add("Location", url)
        response.fields.add("Upload-Offset", "\(record.offset)")
        addExpiry(of: record, to: &response)
        return response
    }

    /// The offset is not the one held; the answer says which that is (§6.5).
    static func misplaced(_ offset: Int64) -> Response {
        var response = error(
            .conflict, reason: "offsetMismatch",
            "Upload-Offset is not the offset of the upload; continue at the Upload-Offset of this answer."
        )
        response.fields.add("Upload-Offset", "\(offset)")
        return response
    }

    /// The end of its life, of an upload that still takes bytes; every one moves it on (§6.7).
    private static func addExpiry(of record: UploadRecord, to response: inout Response) {
        guard record.state.isOpen else { return }
        response.fields.add("Upload-Expires", HTTPDate.format(record.expiresAt / 1000))
    }
}

extension TusProtocol {
    /// An error in the words of tus: the statuses of column B (§12), and one line of text.
    static func response(to error: UploadError, _ settings: UploadSettings) -> Response {
        let details = error.details(settings)
        var response = self.error(
            status(of: error) ?? details.status, reason: details.reason, details.message)
        error.addFields(details, to: &response)
        if error == .stalled { response.ending = .close }
        return response
    }

    /// What other dialects say otherwise.
    private static func status(of error: UploadError) -> Status? {
        switch error {
        case .beyondLength: .contentTooLarge
        case .checksumMismatch: Status(460, "Checksum Mismatch")
        // The one refusal that clients take for a passing one (§6.4).
        case .locked: Status(423, "Locked")
        default: nil
        }
    }
}
