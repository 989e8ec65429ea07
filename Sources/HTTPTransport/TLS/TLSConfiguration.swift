/// What a listener says and asks during a TLS handshake; the defaults are those of the HTTP
/// rules (http §18).
///
/// What nobody may choose is fixed (H159–H162): versions 1.3 and 1.2, forward-secret AEAD suites,
/// X25519, P-256 and P-384, no renegotiation, no early data, `http/1.1` alone.
public struct TLSConfiguration: Sendable {
    /// Two PEM files that belong together.
    public struct CertificateFiles: Sendable, Hashable {
        /// The certificate first, then what leads to the root.
        public var chain: String
        /// The private key, without a passphrase.
        public var key: String

        /// Names them.
        public init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }

    /// What becomes of a handshake that asks for a name no certificate has (H163).
    public enum UnknownName: String, Sendable, CaseIterable {
        /// It gets the first certificate.
        case `default`
        /// It ends with the alert `unrecognized_name`.
        case reject
    }

    /// Whether clients show certificates (H167).
    public enum ClientCertificates: String, Sendable, CaseIterable {
        /// Nobody is asked.
        case off
        /// Who shows one must show a good one.
        case optional
        /// Who shows none is refused.
        case required
    }

    /// Where TLS is spoken.
    public var addresses: [ListenAddress] = []
    /// The certificates; the first one serves whoever names no host.
    public var certificates: [CertificateFiles] = []
    /// What becomes of unknown names.
    public var unknownName = UnknownName.default
    /// Whether a certificate that has expired may be served all the same (H166).
    public var allowsExpired = false
    /// Whether clients show certificates.
    public var clientCertificates = ClientCertificates.off
    /// PEM file of the authorities that sign them.
    public var clientBundle: String?
    /// Whether sessions are resumed (H164).
    public var hasTickets = true
    /// `ticketRotation`: milliseconds after which tickets get a new key, at most 12 hours (H164).
    public var ticketRotation: Int64 = 43_200_000
    /// `tlsHandshakeTimeout`: milliseconds from accept to the end of the handshake (H168).
    public var handshakeTimeout: Int64 = 10_000
    /// `maxHandshakes`: handshakes in progress over all loops (H168).
    public var maximumHandshakes = 512
    /// `maxKeyUpdates`: handshake messages after the handshake without data in between (H172).
    public var maximumKeyUpdates = 32
    /// Seconds that browsers remember to come by TLS only; 0 says nothing about it (H125).
    public var strictTransportAge: Int64 = 0

    /// The defaults.
    public init() {}
}

/// Why TLS cannot be served as configured: one line for a person (H165, H166).
public struct TLSConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, with the name of the file and without a full stop.
    public let description: String

    init(_ description: String) { self.description = description }
}
