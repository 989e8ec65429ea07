import COpenSSL
import HTTP

// C boundary: `TLSSession` owns its object of OpenSSL until `deinit`, and every buffer lives through the call.

/// A TLS session as a state machine: ciphertext in and plaintext out, plaintext in and ciphertext out. It
/// does no I/O; ciphertext passes through the buffers of its loop.
@safe final class TLSSession {
    /// The result of decrypting.
    enum ReadResult: Equatable {
        /// A number of plaintext bytes.
        case bytes(Int)
        /// More ciphertext is needed.
        case needsInput
        /// The peer has sent close_notify.
        case ended
        /// The session has failed; an alert with the reason may be in the output.
        case broken
    }

    let context: TLSContext
    let tlsBuffers: TLSBuffers
    // OpenSSL's object is owned by this one and used on its loop.
    private let ssl: OpaquePointer

    /// Whether the handshake has succeeded.
    private(set) var isEstablished = false
    /// Whether all received ciphertext is decrypted and taken.
    private(set) var isDrained = true
    /// The server name that the client has sent, in lower case.
    private(set) var serverName: String?
    /// The index of the certificate in use.
    private(set) var certificate = 0
    /// The verified client certificate.
    private(set) var client: ClientIdentity?
    private var hasHello = false
    private var hasSentCloseNotify = false
    private var helloSize = 0
    private var handshakeMessageCount = 0

    /// The maximum size of a ClientHello in bytes, with its framing (H168).
    private static let helloLimit = 16 << 10

    /// Creates a session that waits for a ClientHello; `nil` when there is no memory.
    init?(_ context: TLSContext, _ tlsBuffers: TLSBuffers) {
        guard let ssl = unsafe context.session(on: tlsBuffers) else { return nil }
        self.context = context
        self.tlsBuffers = tlsBuffers
        unsafe self.ssl = unsafe ssl
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { unsafe SSL_free(ssl) }

    /// The session of an OpenSSL object.
    static func of(_ ssl: OpaquePointer?) -> TLSSession? {
        guard let pointer = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<TLSSession>.fromOpaque(pointer).takeUnretainedValue()
    }

    // MARK: Plaintext

    /// Clears the error queue of the thread, because OpenSSL would report errors of other code as those of this
    /// session.
    private static func clearErrors() {
        // Checking costs a tenth of clearing an empty queue: 2 % of a small request.
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// Decrypts the input, as far as the buffer has space; also runs the handshake.
    func read(into target: UnsafeMutableRawBufferPointer) -> ReadResult {
        Self.clearErrors()
        var total = 0
        while total < target.count {
            let heldBack = limitHello()
            var count = 0
            let result = unsafe SSL_read_ex(
                ssl, target.baseAddress.unsafelyUnwrapped + total, target.count - total, &count)
            restoreInput(heldBack)
            if !isEstablished, unsafe SSL_is_init_finished(ssl) == 1 { completeHandshake() }
            guard result == 1 else {
                if heldBack > 0, hasHello { continue }
                let failed = failure(result, heldBack: heldBack)
                return total > 0 ? .bytes(total) : failed
            }
            guard !hasTooManyHandshakeMessages else {
                isBroken = true
                return .broken
            }
            handshakeMessageCount = 0
            total += count
            isDrained = unsafe tlsBuffers.inputCount == 0 && SSL_has_pending(ssl) == 0
            if isDrained { break }
        }
        return .bytes(total)
    }

    /// Limits the input to the maximum size of a ClientHello, until it is complete.
    ///
    /// - Returns: The number of bytes held back.
    private func limitHello() -> Int {
        guard !hasHello else { return 0 }
        let input = unsafe tlsBuffers.input
        let shown = min(input.count, Self.helloLimit - helloSize)
        helloSize += shown
        unsafe tlsBuffers.input = unsafe UnsafeBufferPointer(rebasing: input[..<shown])
        return input.count - shown
    }

    private func restoreInput(_ heldBack: Int) {
        guard heldBack > 0 else { return }
        let rest = unsafe tlsBuffers.input
        unsafe tlsBuffers.input = unsafe UnsafeBufferPointer(
            start: rest.baseAddress, count: rest.count + heldBack)
    }

    private func failure(_ result: Int32, heldBack: Int) -> ReadResult {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ
        where heldBack == 0 && !hasTooManyHandshakeMessages && !helloIsTooLong:
            isDrained = true
            return .needsInput
        case SSL_ERROR_ZERO_RETURN: return .ended
        default:
            isBroken = true
            return .broken
        }
    }

    private var helloIsTooLong: Bool { !hasHello && helloSize >= Self.helloLimit }

    /// Encrypts plaintext into the output.
    ///
    /// - Returns: False when the session has failed.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard isEstablished, !isBroken else { return false }
        Self.clearErrors()
        var count = 0
        isBroken = unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count) != 1
        return !isBroken
    }

    private var isBroken = false

    /// Writes close_notify, once (H170).
    func sendCloseNotify() {
        guard isEstablished, !isBroken, !hasSentCloseNotify else { return }
        hasSentCloseNotify = true
        Self.clearErrors()
        // Does not wait for the peer's close_notify: the end of the connection means the same.
        _ = unsafe SSL_shutdown(ssl)
    }

    // MARK: The handshake

    /// Handles a ClientHello with a server name.
    ///
    /// - Returns: False when no certificate has that name and the policy rejects unknown names (H163).
    func receiveHello(serverName name: String?) -> Bool {
        hasHello = true
        serverName = name
        if let name {
            if let index = context.certificate(for: name) {
                certificate = index
            } else if context.configuration.unknownName == .reject {
                return false
            }
        }
        return unsafe context.choose(certificate, name: name ?? "", for: ssl)
    }

    private func completeHandshake() {
        isEstablished = true
        handshakeMessageCount = 0
        guard context.configuration.clientCertificates != .off,
            let peer = unsafe SSL_get0_peer_certificate(ssl),
            unsafe SSL_get_verify_result(ssl) == Int(X509_V_OK)
        else { return }
        client = unsafe ClientIdentity(verified: peer)
    }

    /// Whether the session was resumed from a ticket.
    var isResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

    /// Counts a handshake message. After the handshake these are key updates and attempts to renegotiate,
    /// which cost the server more than the client (H172).
    func countHandshakeMessage() {
        if isEstablished { handshakeMessageCount += 1 }
    }

    private var hasTooManyHandshakeMessages: Bool {
        handshakeMessageCount > context.configuration.maximumKeyUpdates
    }
}
