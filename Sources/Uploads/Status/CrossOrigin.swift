internal import HTTP

/// Which pages may use a URL, and what their browsers are told (§3.7).
struct CrossOrigin: Sendable {
    /// The one origin recorded at creation, else the configured list; `*` is every origin.
    private let allowed: [String]

    init(recorded origin: String?, settings: UploadSettings) {
        allowed = origin.map { [$0] } ?? settings.allowedOrigins
    }

    /// Whether answers differ by origin and a cache has to know.
    var varies: Bool { !allowed.contains("*") }

    /// Adds the fields that stand on every answer, errors and 308 included.
    func add(to fields: inout ResponseFields, for request: Fields) {
        let isAllowed = allow(request, &fields)
        if varies { fields.add("Vary", "Origin") }
        if isAllowed { fields.add("Access-Control-Expose-Headers", CrossOrigin.exposed) }
    }

    /// The answer to `OPTIONS`, a preflight or not.
    func options(_ request: Fields, methods: String) -> Response {
        var response = Response(.noContent)
        let isPreflight =
            request.contains("Origin") && request.contains("Access-Control-Request-Method")
        response.fields.add("Allow", methods)
        let isAllowed = allow(request, &response.fields)
        if varies { response.fields.add("Vary", "Origin") }
        if isPreflight && isAllowed {
            response.fields.add("Access-Control-Allow-Methods", CrossOrigin.methods)
            response.fields.add("Access-Control-Allow-Headers", CrossOrigin.headers)
            response.fields.add("Access-Control-Max-Age", "86400")
        }
        return response
    }

    /// A foreign origin gets no field; its request is processed all the same.
    private func allow(_ request: Fields, _ fields: inout ResponseFields) -> Bool {
        guard varies else {
            fields.add("Access-Control-Allow-Origin", "*")
            return true
        }
        // Compared by bytes; the list's own text goes out, never the client's.
        guard let origin = request["Origin"],
            let known = allowed.first(where: { $0.utf8.elementsEqual(origin.utf8) })
        else { return false }
        fields.add("Access-Control-Allow-Origin", known)
        return true
    }

    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
    private static let headers = [
        "Authorization", "Content-Type", "Content-Range", "Content-MD5", "Content-Digest",
        "Repr-Digest", "Want-Repr-Digest", "Want-Content-Digest", "Range", "If-Range", "If-Match",
        "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "X-HTTP-Method-Override",
        "X-Requested-With", "X-Request-ID", "Tus-Resumable", "Upload-Length", "Upload-Offset",
        "Upload-Metadata", "Upload-Defer-Length", "Upload-Concat", "Upload-Checksum",
        "Upload-Complete", "Upload-Incomplete", "Upload-Draft-Interop-Version",
        "Upload-Content-Type", "Upload-Content-Length", "Upload-Origin", "X-Upload-Content-Type",
        "X-Upload-Content-Length", "X-Goog-Hash", "X-Goog-Resumable", "X-GUploader-No-308",
    ].joined(separator: ", ")
    private static let exposed = [
        "Location", "Range", "Content-Range", "Accept-Ranges", "ETag", "Retry-After",
        "Content-Disposition", "Repr-Digest", "Content-Digest", "Upload-Offset", "Upload-Length",
        "Upload-Metadata", "Upload-Defer-Length", "Upload-Concat", "Upload-Expires",
        "Upload-Complete", "Upload-Incomplete", "Upload-Limit", "Upload-Draft-Interop-Version",
        "Tus-Version", "Tus-Resumable", "Tus-Max-Size", "Tus-Extension", "Tus-Checksum-Algorithm",
        "X-Http-Status-Code-Override", "X-Goog-Hash", "X-Goog-Stored-Content-Length",
    ].joined(separator: ", ")
}
