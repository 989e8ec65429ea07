extension MediaType {
    /// The type that the ending of a file's name stands for; ``unknown`` for all others.
    public init(fileName: String) {
        let ending = fileName.split(separator: ".", omittingEmptySubsequences: false)
        let text = ending.count > 1 ? Self.byEnding[ending[ending.count - 1].lowercased()] : nil
        self = text.flatMap { text in MediaType(text) } ?? .unknown
    }

    private static let byEnding = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "txt": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8",
        "csv": "text/csv; charset=utf-8", "json": "application/json", "map": "application/json",
        "webmanifest": "application/manifest+json", "xml": "application/xml",
        "wasm": "application/wasm", "pdf": "application/pdf", "zip": "application/zip",
        "gz": "application/gzip", "svg": "image/svg+xml", "png": "image/png",
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "ico": "image/x-icon", "woff": "font/woff", "woff2": "font/woff2",
        "mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4",
        "webm": "video/webm",
    ]
}
