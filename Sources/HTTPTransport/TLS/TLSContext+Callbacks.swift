import COpenSSL
import HTTP

// What OpenSSL asks in the middle of a handshake. Each callback finds its session in the slot of
// application data; the session is at work, so it is alive.
extension TLSContext {
    static func setCallbacks(_ context: Owned, asksClients: Bool) {
        let pointer = unsafe context.pointer
        unsafe SSL_CTX_set_client_hello_cb(
            pointer, { ssl, alert, _ in unsafe TLSContext.greet(ssl, alert) }, nil)
        unsafe SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, chosen, count, offered, length, _ in
                unsafe TLSContext.selectProtocol(chosen, count, offered, length)
            }, nil)
        _ = unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(pointer) {
            ssl, name, vector, cipher, mac, seals in
            unsafe TLSContext.armTicket(ssl, name, vector, cipher, mac, seals)
        }
        unsafe SSL_CTX_set_msg_callback(pointer) { written, _, kind, _, _, ssl, _ in
            guard written == 0, kind == SSL3_RT_HANDSHAKE else { return }
            unsafe TLSSession.of(ssl)?.heardHandshakeMessage()
        }
        if asksClients {
            _ = unsafe SSL_CTX_set_session_ticket_cb(
                pointer, { _, _ in 1 },
                { _, session, _, _, status, _ in unsafe TLSContext.judge(session, status) },
                nil)
        }
    }

    /// The hello has come: the name in it picks the certificate (H163).
    ///
    /// Before the session is looked up, so that a ticket from under another name is not taken.
    private static func greet(_ ssl: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?) -> Int32
    {
        guard let ssl = unsafe ssl, let session = unsafe TLSSession.of(ssl) else {
            return SSL_CLIENT_HELLO_ERROR
        }
        var start: UnsafePointer<UInt8>?
        var count = 0
        // What is malformed here is refused by OpenSSL itself a moment later.
        let isThere = unsafe SSL_client_hello_get0_ext(
            ssl, UInt32(TLSEXT_TYPE_server_name), &start, &count)
        let name =
            isThere == 1
            ? unsafe ServerName.read(UnsafeBufferPointer(start: start, count: count)) : nil
        guard session.greeted(by: name) else {
            unsafe alert?.pointee = SSL_AD_UNRECOGNIZED_NAME
            return SSL_CLIENT_HELLO_ERROR
        }
        return SSL_CLIENT_HELLO_SUCCESS
    }

    private static let http11 = Array("http/1.1".utf8)
    /// Lives as long as the program: OpenSSL keeps the pointer.
    nonisolated(unsafe) private static let chosenProtocol: UnsafePointer<UInt8> = {
        let octets = UnsafeMutablePointer<UInt8>.allocate(capacity: http11.count)
        unsafe octets.initialize(from: http11, count: http11.count)
        return unsafe UnsafePointer(octets)
    }()

    /// `http/1.1` or nothing (H162).
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

    /// Makes cipher and MAC ready to seal or to open a ticket.
    ///
    /// - Returns: 1 when ready, 2 when the ticket is to be replaced, 0 for a ticket of nobody.
    private static func armTicket(
        _ ssl: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?,
        _ vector: UnsafeMutablePointer<UInt8>?, _ cipher: OpaquePointer?, _ mac: OpaquePointer?,
        _ seals: Int32
    ) -> Int32 {
        guard let session = unsafe TLSSession.of(ssl), let name = unsafe name else { return -1 }
        let tickets = session.context.tickets
        if seals == 1 {
            let key = tickets.current
            unsafe name.update(from: key.name, count: key.name.count)
            guard unsafe RAND_bytes(vector, EVP_MAX_IV_LENGTH) == 1 else { return -1 }
            let isReady = unsafe EVP_EncryptInit_ex2(
                cipher, EVP_aes_256_cbc(), key.cipher, vector, nil)
            return unsafe isReady == 1 && arm(mac, key) ? 1 : -1
        }
        guard let found = unsafe tickets.key(named: UnsafeBufferPointer(start: name, count: 16))
        else { return 0 }
        let isReady = unsafe EVP_DecryptInit_ex2(
            cipher, EVP_aes_256_cbc(), found.key.cipher, vector, nil)
        guard unsafe isReady == 1 && arm(mac, found.key) else { return -1 }
        // A ticket of TLS 1.3 is good once (RFC 8446 Appendix C.4).
        return unsafe found.isOld || SSL_version(ssl) == TLS1_3_VERSION ? 2 : 1
    }

    private static func arm(_ mac: OpaquePointer?, _ key: TicketKeys.Key) -> Bool {
        var octets = key.mac
        return unsafe tls_key_ticket_mac(mac, &octets, octets.count) == 1
    }

    /// A ticket was opened: whoever it belongs to must still be good (H164).
    private static func judge(_ session: OpaquePointer?, _ status: SSL_TICKET_STATUS)
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
