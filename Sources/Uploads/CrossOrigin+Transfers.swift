internal import HTTP

/// CORS for the URLs of uploads and downloads (§3.7).
extension CORSPolicy {
    /// The origin recorded at creation, otherwise the configured list. Requests of other origins are processed all
    /// the same.
    static func transfers(recorded origin: String?, _ settings: UploadSettings) -> CORSPolicy {
        let origins = origin.map { [$0] } ?? settings.allowedOrigins
        return origins.contains("*") ? everyOrigin : lists.allowing(origins)
    }

    /// Every origin, for responses that reveal nothing.
    static let everyOrigin = CORSPolicy(
        origins: ["*"], requestHeaders: requestHeaders, exposedHeaders: exposedHeaders,
        maxAge: 86_400)

    /// The response to `OPTIONS`, a preflight or not.
    func options(_ request: Request, methods: String) -> Response {
        var response = Response(.noContent)
        response.fields.add("Allow", methods)
        add(to: &response.fields, for: request)
        addPreflight(to: &response.fields, for: request, methods: CORSPolicy.methods)
        return response
    }

    /// Created once, because the lists are long. The web SDK of the Client API sends its requests in the credentials mode
    /// `include` (client-api §1.1).
    private static let lists = CORSPolicy(
        origins: [], requestHeaders: requestHeaders, exposedHeaders: exposedHeaders,
        maxAge: 86_400, allowsCredentials: true)

    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
    private static let requestHeaders = [
        "Authorization", "Content-Type", "Content-Range", "Content-MD5", "Content-Digest",
        "Repr-Digest", "Want-Repr-Digest", "Want-Content-Digest", "Range", "If-Range", "If-Match",
        "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "X-HTTP-Method-Override",
        "X-Requested-With", "X-Request-ID", "Tus-Resumable", "Upload-Length", "Upload-Offset",
        "Upload-Metadata", "Upload-Defer-Length", "Upload-Concat", "Upload-Checksum",
        "Upload-Complete", "Upload-Incomplete", "Upload-Draft-Interop-Version",
        "Upload-Content-Type", "Upload-Content-Length", "Upload-Origin", "X-Upload-Content-Type",
        "X-Upload-Content-Length", "X-Goog-Hash", "X-Goog-Resumable", "X-GUploader-No-308",
    ]
    private static let exposedHeaders = [
        "Location", "Range", "Content-Range", "Accept-Ranges", "ETag", "Retry-After",
        "Content-Disposition", "Repr-Digest", "Content-Digest", "Upload-Offset", "Upload-Length",
        "Upload-Metadata", "Upload-Defer-Length", "Upload-Concat", "Upload-Expires",
        "Upload-Complete", "Upload-Incomplete", "Upload-Limit", "Upload-Draft-Interop-Version",
        "Tus-Version", "Tus-Resumable", "Tus-Max-Size", "Tus-Extension", "Tus-Checksum-Algorithm",
        "X-Http-Status-Code-Override", "X-Goog-Hash", "X-Goog-Stored-Content-Length",
        "X-Request-Id", "Parley-Content-Id",
    ]
}
