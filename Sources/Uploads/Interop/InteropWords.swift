internal import HTTP

/// The answers of dialect C, in the words of one version (§7.3).
struct InteropWords: Sendable {
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
    func whole(_ answer: StoredAnswer, at url: String) -> Response {
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
