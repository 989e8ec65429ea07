internal import HTTP
internal import JSON

/// The responses of protocol C in one version (§7.3).
struct InteropResponses: Sendable {
    let version: InteropVersion
    let settings: UploadSettings
    /// URL of the page that explains errors.
    let errorPage: String

    /// Makes the responses to a request.
    init(_ version: InteropVersion, to request: Request, _ settings: UploadSettings) {
        self.version = version
        self.settings = settings
        errorPage = settings.errorPage(for: request)
    }

    /// The response to a request whose body was stored and that is not the last one.
    ///
    /// - Parameter isCreation: Whether the request created the upload, which has its own status.
    func part(_ record: UploadRecord, at url: String, isCreation: Bool, now: Int64) -> Response {
        var response = Response(isCreation || version.rules < 7 ? .created : .noContent)
        if isCreation { response.fields.add("Location", url) }
        add(offset: record.offset, isComplete: false, to: &response)
        if isCreation { addLimit(record, now, to: &response) }
        return finish(response)
    }

    /// The final response, sent whenever it is requested.
    func whole(_ answer: StoredFinalResponse, at url: String) -> Response {
        var response = FinalResponse.response(answer)
        if version.rules < 7 {
            response.status = .created
            response.fields.add("Location", url)
        }
        add(offset: answer.size, isComplete: true, to: &response)
        if let sha256 = answer.sha256 {
            let digest = BodyDigest(algorithm: .sha256, value: sha256)
            response.fields.add("Repr-Digest", BodyDigest.text([digest]))
        }
        return finish(response)
    }

    /// The response to a status request (§7.7).
    func status(_ record: UploadRecord, now: Int64) -> Response {
        var response = Response(.noContent)
        add(offset: record.offset, isComplete: record.state == .complete, to: &response)
        if version.knowsLengths, let length = record.length {
            response.fields.add("Upload-Length", "\(length)")
        }
        addLimit(record, now, to: &response)
        return finish(response)
    }

    /// The response to a cancellation (§7.9).
    var cancelled: Response { finish(Response(.noContent)) }

    /// `104`: the upload can be resumed at this URL (§7.5).
    func announcement(_ record: UploadRecord, at url: String, now: Int64) -> Response {
        var response = Response(.uploadResumptionSupported)
        response.fields.add("Location", url)
        addLimit(record, now, to: &response)
        return finish(response)
    }

    /// `104`: the durable offset. It has no Location, because it announces no new upload.
    func progress(_ offset: Int64) -> Response {
        var response = Response(.uploadResumptionSupported)
        response.fields.add("Upload-Offset", "\(offset)")
        return finish(response)
    }

    private func add(offset: Int64, isComplete: Bool, to response: inout Response) {
        response.fields.add("Upload-Offset", "\(offset)")
        add(isComplete: isComplete, to: &response)
    }

    private func add(isComplete: Bool, to response: inout Response) {
        response.fields.add(
            version.completenessField, isComplete != version.saysIncomplete ? "?1" : "?0")
    }

    /// Adds the header that every response of this version carries.
    private func finish(_ response: Response) -> Response {
        guard let number = version.named else { return response }
        var response = response
        response.fields.add("Upload-Draft-Interop-Version", "\(number)")
        return response
    }

    /// Adds sizes and remaining lifetime (§7.4); a complete upload has no limits.
    private func addLimit(_ record: UploadRecord, _ now: Int64, to response: inout Response) {
        guard version.knowsLengths, record.state.isOpen else { return }
        let rest = max(0, (record.expiresAt - now) / 1000)
        response.fields.add(
            "Upload-Limit", "\(settings.limits), \(version.lifetimeKey)=\(rest)")
    }
}

extension InteropResponses {
    /// An error as `application/problem+json` (§3.9, §12).
    ///
    /// An interrupted request gets no response: clients resume after a lost connection, but treat a 5xx as final
    /// (§7.11).
    func response(_ error: UploadError) -> Response {
        if error == .stalled { return .dropped }
        let details = error.details(settings)
        var response = problem(
            status(of: error) ?? details.status, details.kind, type(of: error), details.message)
        error.addFields(details, to: &response)
        switch error {
        case .tooLarge where version.knowsLengths:
            response.fields.add("Upload-Limit", settings.limits)
        case .contentMismatch, .refused, .overflow: add(isComplete: true, to: &response)
        case .lengthMismatch, .beyondLength, .checksumMismatch:
            add(isComplete: false, to: &response)
        default: break
        }
        return finish(response)
    }

    /// The error of a request with a body: a temporary error interrupts the request (§7.11).
    func response(toData error: UploadError) -> Response {
        switch error {
        case .unavailable, .stillFinalizing: .dropped
        default: response(error)
        }
    }

    /// The response to a wrong offset; it states the right one (§7.8).
    func mismatch(held: Int64, provided: Int64) -> Response {
        var response = problem(
            .conflict, .invalidOperation, "\(InteropResponses.types)#mismatching-upload-offset",
            "Upload-Offset is not the offset of the upload; continue at expected-offset.",
            offsets: (held, provided))
        add(offset: held, isComplete: false, to: &response)
        return finish(response)
    }

    /// The response to an append to a complete upload, up to version 7.
    var completed: Response {
        let type = version.rules < 6 ? nil : "\(InteropResponses.types)#completed-upload"
        var response = problem(
            .badRequest, .invalidOperation, type,
            "The upload is complete and accepts no more bytes; do not append to it.")
        add(isComplete: true, to: &response)
        return finish(response)
    }

    private static let types = "https://iana.org/assignments/http-problem-types"

    /// The status where protocol C differs: it has no 410, and 422 for content with a wrong digest.
    private func status(of error: UploadError) -> Status? {
        switch error {
        case .gone: .notFound
        case .contentMismatch: .unprocessable
        default: nil
        }
    }

    private func type(of error: UploadError) -> String? {
        switch error {
        case .lengthMismatch, .beyondLength, .overflow:
            "\(InteropResponses.types)#inconsistent-upload-length"
        default: nil
        }
    }

    private func problem(
        _ status: Status, _ kind: UploadErrorKind, _ type: String?, _ title: String,
        offsets: (expected: Int64, provided: Int64)? = nil
    ) -> Response {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", type ?? "about:blank")
            writer.member("title", title)
            writer.member("status", status.code)
            writer.member("id", kind.rawValue)
            writer.member("code", kind.code)
            writer.member("url", "\(errorPage)#\(kind.rawValue)")
            if let offsets {
                writer.member("expected-offset", offsets.expected)
                writer.member("provided-offset", offsets.provided)
            }
        }
        return Response(status, "application/problem+json", writer.finish())
    }
}

extension StoredFinalResponse {
    /// The SHA-256 in the entity tag; `nil` when it has another form.
    var sha256: [UInt8]? {
        let digits = etag.utf8.compactMap { byte -> UInt8? in
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x61...0x66: byte - 0x57
            default: nil
            }
        }
        guard digits.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
