import COpenSSL
import Digests
import HTTP

/// Everything a handshake needs: the certificates, which of them answers to which name, the policy.
///
/// Never changes; a reload makes another one, and sessions keep the one they began with (H165).
final class TLSContext: Sendable {
    let configuration: TLSConfiguration
    let certificates: [Certificate]
    let tickets: TicketKeys
    /// What its operator should hear.
    let warnings: [String]
    private let contexts: [Owned]
    private let exact: [String: Int]
    private let wildcards: [String: Int]

    /// Reads and checks the files.
    ///
    /// - Parameters:
    ///   - tickets: The keys of the context before this one, so that sessions go on across a reload.
    ///   - now: Seconds since 1970.
    init(_ configuration: TLSConfiguration, tickets: TicketKeys, at now: Int64) throws(TLSFault) {
        guard !configuration.certificates.isEmpty else {
            throw TLSFault("TLS needs a certificate and a key")
        }
        var certificates: [Certificate] = []
        for files in configuration.certificates {
            certificates.append(
                try Certificate(files, at: now, allowsExpired: configuration.allowsExpired))
        }
        let authorities = try ClientAuthorities(configuration)
        var contexts: [Owned] = []
        for certificate in certificates {
            let context = try TLSPolicy.context(
                configuration, certificate, ticketLifetime: tickets.lifetime)
            try authorities?.apply(to: context)
            Self.setCallbacks(context, asksClients: authorities != nil)
            contexts.append(context)
        }
        var exact: [String: Int] = [:]
        var wildcards: [String: Int] = [:]
        for (index, certificate) in certificates.enumerated() {
            // The first one that has a name keeps it.
            exact.merge(certificate.names.exact.map { name in (name, index) }) { first, _ in first }
            wildcards.merge(certificate.names.wildcards.map { name in (name, index) }) { first, _ in
                first
            }
        }
        self.configuration = configuration
        self.certificates = certificates
        self.tickets = tickets
        self.contexts = contexts
        self.exact = exact
        self.wildcards = wildcards
        policyDigest = authorities?.digest ?? []
        warnings = certificates.flatMap(\.warnings)
    }

    /// Stands for the policy on client certificates.
    private let policyDigest: [UInt8]

    /// The certificate for a name in lower case: exact before wildcard (H163).
    func certificate(for name: String) -> Int? {
        exact[name] ?? CertificateNames.parent(name).flatMap { parent in wildcards[parent] }
    }

    /// A session that has heard nothing yet, with the first certificate; `nil` without memory.
    func session(on wire: TLSWire) -> OpaquePointer? {
        guard let method = unsafe TLSWire.method else { return nil }
        return unsafe tls_accept(contexts[0].pointer, method, wire.pointer)
    }

    /// Lets a session answer with a certificate, and says what its tickets are good for: this
    /// certificate, this name, this policy, and nothing else (H164).
    func choose(_ index: Int, name: String, for session: OpaquePointer) -> Bool {
        let octets = certificates[index].digest + policyDigest + name.utf8
        let digest = Digests.SHA256.digest(of: octets)
        guard unsafe SSL_set_session_id_context(session, digest, UInt32(digest.count)) == 1 else {
            return false
        }
        return unsafe SSL_set_SSL_CTX(session, contexts[index].pointer) != nil
    }
}
