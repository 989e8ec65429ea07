import HTTP

extension CrossOrigin {
    /// Who may use the interface from a browser, and what pages send and read (H122–H124).
    init(_ settings: PlatformSettings) {
        self.init(
            origins: settings.crossOrigins,
            requestHeaders: [
                "Accept", "Authorization", "Content-Disposition", "Content-Encoding",
                "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Prefer",
                "Upload-Content-Length", "Upload-Content-Type", "Upload-Origin",
                "X-HTTP-Method-Override",
            ],
            exposedHeaders: [
                "Accept-Encoding", "Accept-Patch", "Allow", "Content-Location", "ETag",
                "Idempotent-Replayed", "Layer-Count", "Link", "Location",
                "Parley-Ignored-Parameters", "Parley-Version", "Preference-Applied", "RateLimit",
                "RateLimit-Policy", "Retry-After",
                "WWW-Authenticate", "X-Request-Id",
            ],
            maxAge: settings.crossOriginMaxAge / 1000)
    }
}
