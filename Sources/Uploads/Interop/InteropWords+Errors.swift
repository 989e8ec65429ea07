internal import HTTP
internal import JSON

extension InteropWords {
    /// What went wrong, as `application/problem+json` (§3.9, §12).
    ///
    /// Whoever is interrupted on purpose is told nothing: its client resumes after a lost
    /// connection, and takes a 5xx for the end (§7.11).
    func response(_ error: UploadError) -> Response {
        if error == .stalled { return .dropped }
        let wording = error.wording(settings)
        var response = problem(
            status(of: error) ?? wording.status, wording.kind, type(of: error), wording.message)
        error.addFields(wording, to: &response)
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
            .conflict, .invalidOperation, "\(InteropWords.types)#mismatching-upload-offset",
            "Upload-Offset is not the offset of the upload; continue at expected-offset.",
            offsets: (held, provided))
        add(offset: held, isComplete: false, to: &response)
        return finish(response)
    }

    /// An append to what is whole already, up to version 7.
    var completed: Response {
        let type = version.rules < 6 ? nil : "\(InteropWords.types)#completed-upload"
        var response = problem(
            .badRequest, .invalidOperation, type,
            "The upload is complete and takes no more bytes; do not append to it.")
        add(isComplete: true, to: &response)
        return finish(response)
    }

    private static let types = "https://iana.org/assignments/http-problem-types"

    /// Dialect C knows no 410, and a wrong content is not a wrong request.
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
            "\(InteropWords.types)#inconsistent-upload-length"
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
