import HTTP
import HTTPTransport
import Messaging
import MessagingStore

/// Creates the application that exists at the first start (X12).
struct FirstApplication {
    let store: MessagingStore
    let settings: Settings

    /// Creates the application of `app.id` and the token of `app.token`, whichever is missing.
    func makeConfigured() async throws {
        guard let text = settings.applicationID, let id = Application.ID(uuid: text),
            let secret = settings.applicationToken
        else { return }
        do {
            // Both have no effect if they exist already.
            _ = try await store.createApplication(name: "from the environment", id: id)
            _ = try await store.createToken(for: id, scope: .admin, secret: secret)
        } catch is Rejection {
            throw CommandFailure("app.token belongs to another application, or has been revoked")
        }
    }

    /// Creates an application if there is none.
    ///
    /// - Returns: The text to print for the operator; `nil` if there was an application already.
    func makeIfNone() async throws -> String? {
        guard try await store.applications().isEmpty else { return nil }
        // Several processes may start at once on a new database.
        let lease = Lease("first application", of: store)
        let notice = try await lease.hold { try await make() }
        await lease.release()
        return notice ?? nil
    }

    private func make() async throws -> String? {
        guard try await store.applications().isEmpty else { return nil }
        let application = try await store.createApplication(name: "first")
        let created = try await store.createToken(for: application.id, scope: .admin)
        return """
            This is the first start, so an application has been created. Its token is shown only once.

            APP=\(application.id)
            TOKEN=\(created.secret)

            Try it:

            \(CurlExample(settings: settings).curl)/apps/\(application.id)/conversations \
            -H 'Authorization: Bearer \(created.secret)' \
            -H 'Accept: application/vnd.layer+json; version=3.0' \
            -d '{"participants": ["ana", "bo"], "distinct": true}'

            """
    }
}

/// The `curl` command to paste after the first start: it reaches this server from its own machine.
struct CurlExample {
    fileprivate let settings: Settings

    /// `curl`, its options, and the URL up to the path.
    ///
    /// A public URL may lead through a proxy that does not exist yet, so the connection goes to an
    /// address of this server; only scheme and host are the public ones.
    var curl: String {
        let authority = settings.publicURL.map { url in
            url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        }
        let isPublic = { (scheme: String) in authority?.first.map(String.init) == "\(scheme):" }
        let host = authority.flatMap { parts in
            parts.last?.split(separator: "/").first.map(String.init)
        }
        if let local = Self.local(settings.tls.addresses),
            settings.tls.clientCertificates != .required,
            let certificate = settings.tlsCertificates.first
        {
            let own = "curl --cacert \(Self.quoted(certificate))"
            guard isPublic("https"), let host else { return "\(own) https://\(local)" }
            return "\(own) \(Self.through(local, to: host))https://\(host)"
        }
        if let local = Self.local(settings.http.addresses) {
            guard isPublic("http"), let host else { return named("curl http://\(local)") }
            return "curl \(Self.through(local, to: host))http://\(host)"
        }
        guard case .unix(let path)? = settings.http.addresses.first else {
            return named("curl \(settings.base)")
        }
        return named("curl --unix-socket \(Self.quoted(path)) http://localhost")
    }

    /// The same for a server with `http.allowed_hosts`.
    private func named(_ command: String) -> String {
        guard let host = settings.http.head.allowedHosts.first else { return command }
        let parts = command.split(separator: " ", maxSplits: 1)
        return "\(parts[0]) -H \(Self.quoted("Host: \(host)")) \(parts[1])"
    }

    /// Options that connect to a local address for any host in the URL.
    private static func through(_ local: String, to host: String) -> String {
        local == host ? "" : "--connect-to ::\(local) "
    }

    /// The first address with a known port.
    private static func local(_ addresses: [ListenAddress]) -> String? {
        for address in addresses {
            switch address.reachable {
            case .ipv4(_, let port), .ipv6(_, let port):
                if port != 0 { return "\(address.reachable)" }
            case .unix: continue
            }
        }
        return nil
    }

    /// A word quoted for the shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._/:@%+,=".utf8.contains(byte)
            }
        }
        if isPlain && !word.isEmpty { return word }
        return "'"
            + word.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "'\\''") + "'"
    }
}
