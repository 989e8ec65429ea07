internal import HTTP
internal import JSON

/// Looking at an upload without disturbing it (§3.8).
enum NeutralStatus {
    static func head(_ record: UploadRecord) throws(UploadError) -> Response {
        // A content whose digest was wrong never existed, for `HEAD`.
        if record.state == .failed && record.failure == .digest { throw .notFound }
        try requireAlive(record)
        var response = Response(.ok, content: .withheld)
        response.fields.add("Upload-Offset", "\(record.offset)")
        if let length = record.length { response.fields.add("Upload-Length", "\(length)") }
        response.fields.add("Upload-Complete", record.state == .complete ? "?1" : "?0")
        return response
    }

    static func get(_ record: UploadRecord) throws(UploadError) -> Response {
        try requireAlive(record)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("state", record.state.name)
            writer.member("offset", record.offset)
            writer.key("length")
            if let length = record.length { writer.integer(length) } else { writer.null() }
            writer.member("expires_at", InternetTime.wholeSeconds(record.expiresAt))
        }
        return Response(.ok, "application/json", writer.finish())
    }

    private static func requireAlive(_ record: UploadRecord) throws(UploadError) {
        if record.state.isGone { throw .gone }
    }
}
