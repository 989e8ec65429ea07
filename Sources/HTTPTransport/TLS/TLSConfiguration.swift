/// The TLS configuration of a server; the defaults are those of the HTTP rules (http §18).
///
/// The rest is fixed (H159–H162): versions 1.3 and 1.2, cipher suites with forward secrecy and AEAD, X25519,
/// P-256 and P-384, no renegotiation, no early data, only `http/1.1`.
public struct TLSConfiguration: Sendable {
    /// The PEM files of a certificate and its key.
    public struct CertificateFiles: Sendable, Hashable {
        /// The certificate, then its issuers up to the root.
        public var chain: String
        /// The private key, without a passphrase.
        public var key: String

        /// Creates a pair of files.
        public init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }

    /// The behaviour for a server name without a certificate (H163).
    public enum UnknownName: String, Sendable, CaseIterable {
        /// The first certificate is used.
        case `default`
        /// The handshake fails with the alert `unrecognized_name`.
        case reject
    }

    /// Whether clients are asked for certificates (H167).
    public enum ClientCertificates: String, Sendable, CaseIterable {
        /// Clients are not asked.
        case off
        /// A client may send a certificate; an invalid one is rejected.
        case optional
        /// A client must send a valid certificate.
        case required
    }

    /// The addresses with TLS.
    public var addresses: [ListenAddress] = []
    /// The certificates; the first one is used for clients that send no server name.
    public var certificates: [CertificateFiles] = []
    /// The behaviour for unknown server names.
    public var unknownName = UnknownName.default
    /// Whether an expired certificate is used nevertheless (H166).
    public var allowsExpired = false
    /// Whether clients are asked for certificates.
    public var clientCertificates = ClientCertificates.off
    /// The PEM file with the authorities of client certificates.
    public var clientBundle: String?
    /// Whether sessions can be resumed (H164).
    public var hasTickets = true
    /// `ticketRotation`: milliseconds after which tickets get a new key, at most 12 hours (H164).
    public var ticketRotation: Int64 = 43_200_000
    /// `tlsHandshakeTimeout`: milliseconds from accept to the end of the handshake (H168).
    public var handshakeTimeout: Int64 = 10_000
    /// `maxHandshakes`: handshakes in progress over all loops (H168).
    public var maximumHandshakes = 512
    /// `maxKeyUpdates`: handshake messages after the handshake without data in between (H172).
    public var maximumKeyUpdates = 32
    /// The `max-age` of `Strict-Transport-Security` in seconds; 0 sends no such header (H125).
    public var strictTransportAge: Int64 = 0

    /// The defaults.
    public init() {}
}

/// The reason why TLS cannot be used as configured (H165, H166).
public struct TLSConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A text on one line with the file name, without a full stop.
    public let description: String

    init(_ description: String) { self.description = description }
}
