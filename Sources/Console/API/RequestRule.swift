import HTTP
import MessagingWire

/// What the headers of a request to the API of the console must fulfil, whatever its path: no page of another site may
/// send it.
struct RequestRule: Sendable {
    private let publicURL: String?
    private let networks: [AddressBlock]

    /// - Parameters:
    ///   - publicURL: The setting `public_url`.
    ///   - networks: The setting `console.allowed_networks`; empty for all.
    init(publicURL: String?, networks: [AddressBlock]) {
        self.publicURL = publicURL
        self.networks = networks
    }

    /// - Throws: 403, or 415 for the type of a body that a form could have.
    func check(_ request: Request) throws(APIError) {
        guard networks.isEmpty || networks.contains(where: { $0.contains(request.peer) }) else {
            throw APIError(
                .accessDenied,
                "The address \(request.peer) is in none of `console.allowed_networks`.")
        }
        if let site = request.fields["Sec-Fetch-Site"], site != "same-origin" {
            throw APIError(
                .accessDenied, "Only pages of this server may use the console's API.",
                data: .header("Sec-Fetch-Site"))
        }
        // A page of another site cannot add a bearer token. A browser adds the password of a proxy to any request.
        guard request.fields["Authorization"]?.lowercased().hasPrefix("bearer ") != true else {
            return
        }
        switch request.method {
        case .get, .head, .options: return
        case .post, .put, .patch, .delete: break
        }
        guard request.fields["X-Parley-Console"] == "1" else {
            throw APIError(
                .accessDenied, "A request with a cookie needs the header `X-Parley-Console: 1`.",
                data: .header("X-Parley-Console"))
        }
        try checkOrigin(of: request)
        try checkType(of: request)
    }

    private func checkOrigin(of request: Request) throws(APIError) {
        guard let origin = request.fields["Origin"] else {
            // A client without a cookie, such as a login by a script, is no browser.
            guard request.fields.contains("Cookie") else { return }
            throw APIError(
                .accessDenied, "A request with a cookie needs the header `Origin`.",
                data: .header("Origin"))
        }
        let host = request.fields["Host"] ?? ""
        let own = [host, publicURL.map(Self.authority) ?? ""].filter { text in !text.isEmpty }
        let scheme = origin.prefix { character in character != ":" }.lowercased()
        let wanted = Self.authority(of: origin)
        let isOwn =
            (scheme == "http" || scheme == "https")
            && own.contains { text in
                Self.comparable(text, scheme).utf8.elementsEqual(
                    Self.comparable(wanted, scheme).utf8)
            }
        guard isOwn else {
            throw APIError(
                .accessDenied,
                """
                The `Origin` \(origin) is neither that of `Host` \(host) nor that of `public_url` \
                \(publicURL ?? "(not set)"); behind a proxy, set `public_url` and \
                `http.trusted_proxies`.
                """, data: .header("Origin"))
        }
    }

    /// The host and port of a URL.
    private static func authority(of url: String) -> String {
        let parts = url.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count > 2 ? String(parts[2]) : ""
    }

    /// A host and port in lower case, without the default port of a scheme.
    private static func comparable(_ authority: String, _ scheme: String) -> String {
        let text = authority.lowercased()
        let port = scheme == "https" ? ":443" : ":80"
        return text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
    }

    /// Only types that a form of another site cannot send.
    private func checkType(of request: Request) throws(APIError) {
        guard request.framing.announcesContent else { return }
        let type = (request.fields["Content-Type"] ?? "")
            .prefix { character in character != ";" && character != " " }.lowercased()
        let isKnown =
            type == "application/json" || type == "application/jsonl"
            || type.hasPrefix("application/vnd.layer")
        guard isKnown else {
            throw APIError(
                .invalidHeader,
                "The `Content-Type` of a body must be application/json or application/jsonl.",
                data: .header("Content-Type"), status: 415)
        }
    }
}
