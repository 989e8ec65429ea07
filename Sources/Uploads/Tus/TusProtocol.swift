internal import HTTP

/// The supported version of tus and its extensions (§6.1, §6.2).
enum TusProtocol {
    private static let version = "1.0.0"
    /// The media type of upload data.
    static let mediaType = "application/offset+octet-stream"
    /// The trailer that may carry a checksum.
    static let trailer: FieldName = "Upload-Checksum"

    private static let extensions = [
        "creation", "creation-with-upload", "creation-defer-length", "expiration", "checksum",
        "checksum-trailer", "termination", "concatenation",
    ].joined(separator: ",")
    private static let algorithms = DigestAlgorithm.tus.map(\.name).joined(separator: ",")

    /// Adds the supported features to a response to `OPTIONS`.
    static func describe(in fields: inout ResponseFields, maxSize: Int64) {
        fields.add("Tus-Resumable", version)
        fields.add("Tus-Version", version)
        fields.add("Tus-Extension", extensions)
        fields.add("Tus-Max-Size", "\(maxSize)")
        fields.add("Tus-Checksum-Algorithm", algorithms)
    }

    /// The refusal of a request with a missing or another version (§6.1); `nil` when the version matches.
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

    /// Whether the body is upload data; parameters of its media type are ignored (§6.3).
    static func isData(_ fields: Fields) -> Bool {
        fields["Content-Type"].map { MediaType(untrusted: $0).essence } == mediaType
    }

    /// A response with the version header.
    static func answer(_ status: Status, content: Content = .none) -> Response {
        var response = Response(status, content: content)
        response.fields.add("Tus-Resumable", version)
        return response
    }

    /// An error as one line of plain text (§3.9).
    private static func error(_ status: Status, reason: String, _ message: String) -> Response {
        var response = answer(status, content: .bytes(Array("\(reason): \(message)".utf8)))
        response.fields.add("Content-Type", "text/plain; charset=utf-8")
        return response
    }
}

extension TusProtocol {
    /// The response to `HEAD` of an upload (§6.4).
    ///
    /// - Throws: ``UploadError/gone`` for an upload that ended without content.
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

    /// The response to an accepted `PATCH`: exactly 204, because one client requires it (§6.5).
    static func accepted(_ record: UploadRecord) -> Response {
        var response = answer(.noContent)
        response.fields.add("Upload-Offset", "\(record.offset)")
        addExpiry(of: record, to: &response)
        return response
    }

    /// The response to a creation (§6.3).
    static func created(_ record: UploadRecord, at url: String) -> Response {
        var response = answer(.created)
        response.fields.add("Location", url)
        response.fields.add("Upload-Offset", "\(record.offset)")
        addExpiry(of: record, to: &response)
        return response
    }

    /// The response to a wrong offset; it states the right one (§6.5).
    static func misplaced(_ offset: Int64) -> Response {
        var response = error(
            .conflict, reason: "offsetMismatch",
            "Upload-Offset is not the offset of the upload; continue at the Upload-Offset of this answer."
        )
        response.fields.add("Upload-Offset", "\(offset)")
        return response
    }

    /// Adds the expiry of an open upload; every appended byte moves it (§6.7).
    private static func addExpiry(of record: UploadRecord, to response: inout Response) {
        guard record.state.isOpen else { return }
        response.fields.add("Upload-Expires", HTTPDate.format(record.expiresAt / 1000))
    }
}

extension TusProtocol {
    /// An error in tus: the statuses of column B (§12), and one line of text.
    static func response(to error: UploadError, _ settings: UploadSettings) -> Response {
        let details = error.details(settings)
        var response = self.error(
            status(of: error) ?? details.status, reason: details.reason, details.message)
        error.addFields(details, to: &response)
        if error == .stalled { response.ending = .close }
        return response
    }

    /// The status where tus differs from the other protocols.
    private static func status(of error: UploadError) -> Status? {
        switch error {
        case .beyondLength: .contentTooLarge
        case .checksumMismatch: Status(460, "Checksum Mismatch")
        // The only error that clients retry (§6.4).
        case .locked: Status(423, "Locked")
        default: nil
        }
    }
}
