import HTTP

/// The headers that protect the pages: what a page may load, and which sites may embed or read it.
struct PagePolicy: Sendable {
    private let contentSecurityPolicy: String

    /// - Parameter contentOrigins: The origins of uploads and downloads other than this server's.
    init(contentOrigins: [String]) {
        let others = contentOrigins.map { origin in " \(origin)" }.joined()
        contentSecurityPolicy = """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:\(others); \
            media-src 'self' blob:\(others); connect-src 'self'\(others); form-action 'self'; \
            base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
            trusted-types 'none'
            """
    }

    /// Adds the headers of a page.
    func add(to fields: inout ResponseFields) {
        fields.add("Content-Security-Policy", contentSecurityPolicy)
        Self.addCommonFields(to: &fields)
    }

    /// A 404 with a sentence, which is not stored.
    static func notFound(_ text: String) -> Response {
        var response = Response(
            .notFound, "text/plain; charset=UTF-8", Array("\(text)\n".utf8))
        response.fields.add("Cache-Control", "no-store")
        addCommonFields(to: &response.fields)
        return response
    }

    /// Adds the headers that all answers for pages have.
    static func protecting(_ response: Response) -> Response {
        var response = response
        addCommonFields(to: &response.fields)
        return response
    }

    /// Adds the headers of pages and assets. `X-Content-Type-Options` is on every response.
    static func addCommonFields(to fields: inout ResponseFields) {
        fields.add("X-Frame-Options", "DENY")
        fields.add("Referrer-Policy", "no-referrer")
        fields.add("Cross-Origin-Opener-Policy", "same-origin")
        fields.add("Cross-Origin-Resource-Policy", "same-origin")
    }
}
