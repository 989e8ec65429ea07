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

    /// Whether client certificates are requested (H167).
    public enum ClientCertificates: String, Sendable, CaseIterable {
        /// They are not requested.
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
    /// Whether client certificates are requested.
    public var clientCertificates = ClientCertificates.off
    /// The PEM file with the authorities of client certificates.
    public var clientBundle: String?
    /// Whether sessions can be resumed (H164).
    public var hasTickets = true
    /// Milliseconds after which tickets get a new key, at most 12 hours (H164).
    public var ticketRotation: Int64 = 43_200_000
    /// Milliseconds from accept to the end of the handshake (H168).
    public var handshakeTimeout: Int64 = 10_000
    /// Handshakes in progress over all loops (H168).
    public var maximumHandshakes = 512
    /// Handshake messages after the handshake without data in between (H172).
    public var maximumKeyUpdates = 32
    /// The `max-age` of `Strict-Transport-Security` in seconds; 0 sends no such header (H125).
    public var strictTransportAge: Int64 = 0

    /// The defaults.
    public init() {}
}

/// The errors and warnings of the files of a configuration, found without starting a server.
public struct TLSCheck: Sendable {
    /// The files that an error is about.
    public enum Subject: Sendable {
        case chain, key, clientBundle
    }

    /// All errors, in the order of the certificates.
    public private(set) var errors: [(subject: Subject, error: TLSConfigurationError)] = []
    /// Warnings for the operator, if there is no error.
    public private(set) var warnings: [String] = []

    /// Reads and validates all files.
    ///
    /// Blocks while files are read.
    public init(_ configuration: TLSConfiguration) {
        for files in configuration.certificates {
            let isRead = [
                attempt(.chain) { () throws(TLSConfigurationError) in
                    _ = try PEMFile(files.chain).certificates()
                },
                attempt(.key) { () throws(TLSConfigurationError) in
                    _ = try PEMFile(files.key).privateKey()
                },
            ]
            guard !isRead.contains(false) else { continue }
            attempt(.chain) { () throws(TLSConfigurationError) in
                _ = try Certificate(
                    files, at: TLSAcceptor.now, allowsExpired: configuration.allowsExpired)
            }
        }
        attempt(.clientBundle) { () throws(TLSConfigurationError) in
            _ = try ClientAuthorities(configuration)
        }
        guard errors.isEmpty else { return }
        var warnings: [String] = []
        attempt(.chain) { () throws(TLSConfigurationError) in
            let tickets = TicketKeys(rotation: configuration.ticketRotation)
            warnings = try TLSContext(configuration, tickets: tickets, at: TLSAcceptor.now).warnings
        }
        self.warnings = warnings
    }

    /// - Returns: Whether the work succeeded; otherwise its error is noted.
    @discardableResult
    private mutating func attempt(
        _ subject: Subject, _ work: () throws(TLSConfigurationError) -> Void
    ) -> Bool {
        do throws(TLSConfigurationError) {
            try work()
            return true
        } catch {
            errors.append((subject, error))
            return false
        }
    }

    /// Checks a PEM file of CA certificates.
    public static func checkAuthorities(_ file: String) throws(TLSConfigurationError) {
        _ = try PEMFile(file).certificates()
    }
}

/// The reason why TLS cannot be used as configured (H165, H166).
public struct TLSConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A text on one line with the file name, without a full stop.
    public let description: String

    init(_ description: String) { self.description = description }
}
