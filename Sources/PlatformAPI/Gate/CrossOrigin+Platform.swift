import HTTP

extension CrossOrigin {
    /// Who may use the interface from a browser, and what pages send and read (H122–H124).
    init(_ settings: PlatformSettings) {
        self.init(
            origins: settings.crossOrigins,
            requestHeaders: [
                "Accept", "Authorization", "Content-Encoding", "Content-Type", "If-None-Match",
                "Upload-Content-Length", "Upload-Content-Type", "Upload-Origin",
                "X-HTTP-Method-Override",
            ],
            exposedHeaders: [
                "Accept-Encoding", "Accept-Patch", "Allow", "Content-Location", "ETag",
                "Layer-Count", "Location", "Retry-After", "WWW-Authenticate", "X-Request-Id",
            ],
            maxAge: settings.crossOriginMaxAge / 1000)
    }
}
