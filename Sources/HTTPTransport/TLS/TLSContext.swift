import Bytes
import COpenSSL
import HTTP

// C boundary: contexts are owned by their objects, and pointers that OpenSSL passes are used only inside its callback.

/// The data of TLS handshakes: the certificates by name, and the policy.
///
/// It never changes: a reload creates another one, and sessions keep the one they began with (H165).
final class TLSContext: Sendable {
    let configuration: TLSConfiguration
    let certificates: [Certificate]
    private let tickets: TicketKeys
    /// Warnings for the operator.
    let warnings: [String]
    private let contexts: [OpenSSLObject]
    private let exact: [String: Int]
    private let wildcards: [String: Int]

    /// Reads and validates the files.
    ///
    /// - Parameters:
    ///   - tickets: The keys of the previous context, so that sessions survive a reload.
    ///   - now: Seconds since 1970.
    init(_ configuration: TLSConfiguration, tickets: TicketKeys, at now: Int64)
        throws(TLSConfigurationError)
    {
        guard !configuration.certificates.isEmpty else {
            throw TLSConfigurationError("TLS needs a certificate and a key")
        }
        var certificates: [Certificate] = []
        for files in configuration.certificates {
            certificates.append(
                try Certificate(files, at: now, allowsExpired: configuration.allowsExpired))
        }
        let authorities = try ClientAuthorities(configuration)
        var contexts: [OpenSSLObject] = []
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
            // The first certificate with a name is used for it.
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

    /// A digest of the policy for client certificates.
    private let policyDigest: [UInt8]

    /// The index of the certificate for a name in lower case; an exact match wins over a wildcard (H163).
    func certificate(for name: String) -> Int? {
        exact[name] ?? CertificateNames.parent(name).flatMap { parent in wildcards[parent] }
    }

    /// Creates a session with the first certificate; `nil` when there is no memory.
    func session(on tlsBuffers: TLSBuffers) -> OpaquePointer? {
        guard let method = unsafe TLSBuffers.method else { return nil }
        return unsafe tls_accept(contexts[0].pointer, method, tlsBuffers.pointer)
    }

    /// Selects the certificate of a session. Its tickets are valid only for this certificate, name and policy
    /// (H164).
    func choose(_ index: Int, name: String, for session: OpaquePointer) -> Bool {
        let bytes = certificates[index].digest + policyDigest + name.utf8
        let digest = Bytes.SHA256.digest(of: bytes)
        guard unsafe SSL_set_session_id_context(session, digest, UInt32(digest.count)) == 1 else {
            return false
        }
        return unsafe SSL_set_SSL_CTX(session, contexts[index].pointer) != nil
    }
}

// Callbacks of OpenSSL during a handshake. Each finds its session in the application data of OpenSSL's
// object; the session is in use, so it is alive.
extension TLSContext {
    private static func setCallbacks(_ context: OpenSSLObject, asksClients: Bool) {
        let pointer = unsafe context.pointer
        unsafe SSL_CTX_set_client_hello_cb(
            pointer, { ssl, alert, _ in unsafe TLSContext.handleHello(ssl, alert) }, nil)
        unsafe SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, chosen, count, offered, length, _ in
                unsafe TLSContext.selectProtocol(chosen, count, offered, length)
            }, nil)
        _ = unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(pointer) {
            ssl, name, vector, cipher, mac, isEncrypting in
            unsafe TLSContext.setTicketKey(ssl, name, vector, cipher, mac, isEncrypting)
        }
        unsafe SSL_CTX_set_msg_callback(pointer) { written, _, kind, _, _, ssl, _ in
            guard written == 0, kind == SSL3_RT_HANDSHAKE else { return }
            unsafe TLSSession.of(ssl)?.countHandshakeMessage()
        }
        if asksClients {
            _ = unsafe SSL_CTX_set_session_ticket_cb(
                pointer, { _, _ in 1 },
                { _, session, _, _, status, _ in unsafe TLSContext.validateTicket(session, status)
                },
                nil)
        }
    }

    /// Handles a ClientHello: its server name selects the certificate (H163).
    ///
    /// It runs before the session is looked up, so that a ticket for another name is not accepted.
    private static func handleHello(_ ssl: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?)
        -> Int32
    {
        guard let ssl = unsafe ssl, let session = unsafe TLSSession.of(ssl) else {
            return SSL_CLIENT_HELLO_ERROR
        }
        var start: UnsafePointer<UInt8>?
        var count = 0
        // OpenSSL itself rejects a malformed extension afterwards.
        let isThere = unsafe SSL_client_hello_get0_ext(
            ssl, UInt32(TLSEXT_TYPE_server_name), &start, &count)
        let name =
            isThere == 1
            ? unsafe ServerName.read(UnsafeBufferPointer(start: start, count: count)) : nil
        guard session.receiveHello(serverName: name) else {
            unsafe alert?.pointee = SSL_AD_UNRECOGNIZED_NAME
            return SSL_CLIENT_HELLO_ERROR
        }
        return SSL_CLIENT_HELLO_SUCCESS
    }

    private static let http11 = Array("http/1.1".utf8)
    /// Never freed, because OpenSSL keeps the pointer.
    nonisolated(unsafe) private static let chosenProtocol: UnsafePointer<UInt8> = {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: http11.count)
        unsafe bytes.initialize(from: http11, count: http11.count)
        return unsafe UnsafePointer(bytes)
    }()

    /// Selects `http/1.1`, or fails (H162).
    private static func selectProtocol(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ count: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ length: UInt32
    ) -> Int32 {
        // OpenSSL has checked that the list is well-formed.
        var rest = unsafe UnsafeBufferPointer(start: offered, count: Int(length))[...]
        while let size = unsafe rest.popFirst() {
            let name = unsafe rest.prefix(Int(size))
            if unsafe name.elementsEqual(http11) {
                unsafe chosen?.pointee = unsafe chosenProtocol
                unsafe count?.pointee = UInt8(http11.count)
                return SSL_TLSEXT_ERR_OK
            }
            unsafe rest = unsafe rest.dropFirst(Int(size))
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }

    /// Sets the keys to encrypt or decrypt a ticket.
    ///
    /// - Returns: 1 when the keys are set, 2 when the ticket must be replaced, 0 for an unknown ticket.
    private static func setTicketKey(
        _ ssl: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?,
        _ vector: UnsafeMutablePointer<UInt8>?, _ cipher: OpaquePointer?, _ mac: OpaquePointer?,
        _ isEncrypting: Int32
    ) -> Int32 {
        guard let session = unsafe TLSSession.of(ssl), let name = unsafe name else { return -1 }
        let tickets = session.context.tickets
        if isEncrypting == 1 {
            let key = tickets.current
            unsafe name.update(from: key.name, count: key.name.count)
            guard unsafe RAND_bytes(vector, EVP_MAX_IV_LENGTH) == 1 else { return -1 }
            let isReady = unsafe EVP_EncryptInit_ex2(
                cipher, EVP_aes_256_cbc(), key.cipher, vector, nil)
            return unsafe isReady == 1 && setMAC(mac, key) ? 1 : -1
        }
        guard let found = unsafe tickets.key(named: UnsafeBufferPointer(start: name, count: 16))
        else { return 0 }
        let isReady = unsafe EVP_DecryptInit_ex2(
            cipher, EVP_aes_256_cbc(), found.key.cipher, vector, nil)
        guard unsafe isReady == 1 && setMAC(mac, found.key) else { return -1 }
        // A ticket of TLS 1.3 is used only once (RFC 8446 Appendix C.4).
        return unsafe found.isOld || SSL_version(ssl) == TLS1_3_VERSION ? 2 : 1
    }

    private static func setMAC(_ mac: OpaquePointer?, _ key: TicketKeys.Key) -> Bool {
        var bytes = key.mac
        return unsafe tls_key_ticket_mac(mac, &bytes, bytes.count) == 1
    }

    /// Validates a decrypted ticket: the client certificate in it must not have expired (H164).
    private static func validateTicket(_ session: OpaquePointer?, _ status: SSL_TICKET_STATUS)
        -> SSL_TICKET_RETURN
    {
        switch status {
        case SSL_TICKET_SUCCESS, SSL_TICKET_SUCCESS_RENEW: break
        default: return SSL_TICKET_RETURN_IGNORE_RENEW
        }
        if let peer = unsafe SSL_SESSION_get0_peer(session),
            unsafe X509_cmp_current_time(X509_get0_notAfter(peer)) <= 0
        {
            return SSL_TICKET_RETURN_IGNORE_RENEW
        }
        return status == SSL_TICKET_SUCCESS
            ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW
    }
}

/// Parses the `server_name` extension of a ClientHello (RFC 6066 §3).
enum ServerName {
    /// The host name in lower case; `nil` when the extension is invalid or has none.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        // The length of the list, the type of an entry, and the length of a name.
        guard bytes.count > 5, unsafe number(bytes, at: 0) == bytes.count - 2,
            unsafe bytes[2] == 0
        else { return nil }
        let count = unsafe number(bytes, at: 3)
        guard count > 0, count <= 255, bytes.count == 5 + count else { return nil }
        let name = unsafe bytes[5...]
        // Names outside ASCII are sent as A-labels.
        guard unsafe name.allSatisfy({ byte in byte > 0x20 && byte < 0x7F }) else { return nil }
        return unsafe CertificateNames.folded(String(decoding: name, as: UTF8.self))
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        unsafe Int(bytes[index]) << 8 | Int(bytes[index + 1])
    }
}
