internal import HTTP

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
