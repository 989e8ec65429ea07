internal import HTTP
internal import JSON

/// The answers of dialect C, in the words of one version (§7.3).
struct InteropResponses: Sendable {
    let version: InteropVersion
    let settings: UploadSettings

    /// The request was taken whole and is not the end.
    ///
    /// - Parameter isCreation: Whether it was the first one, which has a status of its own.
    func part(_ record: UploadRecord, at url: String, isCreation: Bool, now: Int64) -> Response {
        var response = Response(isCreation || version.rules < 7 ? .created : .noContent)
        if isCreation { response.fields.add("Location", url) }
        add(offset: record.offset, isComplete: false, to: &response)
        if isCreation { addLimit(record, now, to: &response) }
        return finish(response)
    }

    /// The final answer; again whenever it is asked for.
    func whole(_ answer: StoredResponse, at url: String) -> Response {
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

    /// How much is held (§7.7).
    func status(_ record: UploadRecord, now: Int64) -> Response {
        var response = Response(.noContent)
        add(offset: record.offset, isComplete: record.state == .complete, to: &response)
        if version.knowsLengths, let length = record.length {
            response.fields.add("Upload-Length", "\(length)")
        }
        addLimit(record, now, to: &response)
        return finish(response)
    }

    /// It has been given up (§7.9).
    var cancelled: Response { finish(Response(.noContent)) }

    /// `104`: the upload can be resumed at this URL (§7.5).
    func announcement(_ record: UploadRecord, at url: String, now: Int64) -> Response {
        var response = Response(.uploadResumptionSupported)
        response.fields.add("Location", url)
        addLimit(record, now, to: &response)
        return finish(response)
    }

    /// `104`: so much is durable by now; it names no place, being no new upload.
    func progress(_ offset: Int64) -> Response {
        var response = Response(.uploadResumptionSupported)
        response.fields.add("Upload-Offset", "\(offset)")
        return finish(response)
    }

    func add(offset: Int64, isComplete: Bool, to response: inout Response) {
        response.fields.add("Upload-Offset", "\(offset)")
        add(isComplete: isComplete, to: &response)
    }

    func add(isComplete: Bool, to response: inout Response) {
        response.fields.add(
            version.completenessField, isComplete != version.saysIncomplete ? "?1" : "?0")
    }

    /// What every answer of this dialect carries.
    func finish(_ response: Response) -> Response {
        guard let number = version.named else { return response }
        var response = response
        response.fields.add("Upload-Draft-Interop-Version", "\(number)")
        return response
    }

    /// Sizes and remaining life (§7.4); what is whole has no limits any more.
    private func addLimit(_ record: UploadRecord, _ now: Int64, to response: inout Response) {
        guard version.knowsLengths, record.state.isOpen else { return }
        let rest = max(0, (record.expiresAt - now) / 1000)
        response.fields.add(
            "Upload-Limit", "\(settings.limits), \(version.lifetimeKey)=\(rest)")
    }
}

extension InteropResponses {
    /// What went wrong, as `application/problem+json` (§3.9, §12).
    ///
    /// Whoever is interrupted on purpose is told nothing: its client resumes after a lost
    /// connection, and takes a 5xx for the end (§7.11).
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

    /// The same to a request that brings bytes: what passes by itself interrupts it (§7.11).
    func response(toData error: UploadError) -> Response {
        switch error {
        case .unavailable, .stillFinalizing: .dropped
        default: response(error)
        }
    }

    /// The first byte is not the next one: which one is (§7.8).
    func mismatch(held: Int64, provided: Int64) -> Response {
        var response = problem(
            .conflict, .invalidOperation, "\(InteropResponses.types)#mismatching-upload-offset",
            "Upload-Offset is not the offset of the upload; continue at expected-offset.",
            offsets: (held, provided))
        add(offset: held, isComplete: false, to: &response)
        return finish(response)
    }

    /// An append to what is whole already, up to version 7.
    var completed: Response {
        let type = version.rules < 6 ? nil : "\(InteropResponses.types)#completed-upload"
        var response = problem(
            .badRequest, .invalidOperation, type,
            "The upload is complete and takes no more bytes; do not append to it.")
        add(isComplete: true, to: &response)
        return finish(response)
    }

    private static let types = "https://iana.org/assignments/http-problem-types"

    /// ProtocolSelection C knows no 410, and a wrong content is not a wrong request.
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
            writer.member("url", "\(settings.errorPage)#\(kind.rawValue)")
            if let offsets {
                writer.member("expected-offset", offsets.expected)
                writer.member("provided-offset", offsets.provided)
            }
        }
        return Response(status, "application/problem+json", writer.finish())
    }
}

extension StoredResponse {
    /// The SHA-256 its tag is made of; `nil` when it is not.
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
