import COpenSSL
import HTTP

/// One TLS connection as a state machine: ciphertext in and plaintext out, plaintext in and ciphertext
/// out. It knows no socket; ciphertext passes through the wire of its loop.
@safe final class TLSSession {
    /// What a look at the ciphertext has brought.
    enum Reading: Equatable {
        /// So many bytes of plaintext.
        case bytes(Int)
        /// Nothing before more ciphertext comes.
        case needsInput
        /// The peer has said goodbye (close_notify).
        case ended
        /// The session is beyond repair; an alert that says why may be in the output.
        case broken
    }

    let context: TLSContext
    let wire: TLSBuffers
    // OpenSSL's object belongs to this one and to its loop.
    private let ssl: OpaquePointer

    /// Whether the handshake is done.
    private(set) var isEstablished = false
    /// Whether all ciphertext that came has been turned into plaintext that was taken.
    private(set) var isDrained = true
    /// The name the client asked for, in lower case.
    private(set) var serverName: String?
    /// Which certificate answered.
    private(set) var certificate = 0
    /// Who the client has proved to be.
    private(set) var client: ClientIdentity?
    private var hasHello = false
    private var hasSaidGoodbye = false
    private var helloCount = 0
    private var handshakeMessageCount = 0

    /// A hello may be that long, with its frames (H168).
    private static let helloLimit = 16 << 10

    /// Waits for a hello; `nil` when memory is short.
    init?(_ context: TLSContext, _ wire: TLSBuffers) {
        guard let ssl = unsafe context.session(on: wire) else { return nil }
        self.context = context
        self.wire = wire
        unsafe self.ssl = unsafe ssl
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { unsafe SSL_free(ssl) }

    /// The session that OpenSSL works for.
    static func of(_ ssl: OpaquePointer?) -> TLSSession? {
        guard let pointer = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<TLSSession>.fromOpaque(pointer).takeUnretainedValue()
    }

    // MARK: Plaintext

    /// Errors of others on this thread would be taken for ours.
    private static func forgetErrors() {
        // To look costs a tenth of clearing what is clear: 2 % of a small request.
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// Turns the wire's input into plaintext, as far as there is room; shakes hands on the way.
    func read(into room: UnsafeMutableRawBufferPointer) -> Reading {
        Self.forgetErrors()
        var total = 0
        while total < room.count {
            let held = limitHello()
            var count = 0
            let result = unsafe SSL_read_ex(
                ssl, room.baseAddress.unsafelyUnwrapped + total, room.count - total, &count)
            giveBack(held)
            if !isEstablished, unsafe SSL_is_init_finished(ssl) == 1 { establish() }
            guard result == 1 else {
                if held > 0, hasHello { continue }
                let reading = failure(result, held: held)
                return total > 0 ? .bytes(total) : reading
            }
            guard !hasTooManyHandshakeMessages else {
                isBroken = true
                return .broken
            }
            handshakeMessageCount = 0
            total += count
            isDrained = unsafe wire.inputCount == 0 && SSL_has_pending(ssl) == 0
            if isDrained { break }
        }
        return .bytes(total)
    }

    /// Shows OpenSSL no more than a hello may be long, until it has one.
    ///
    /// - Returns: How many bytes were held back.
    private func limitHello() -> Int {
        guard !hasHello else { return 0 }
        let input = unsafe wire.input
        let shown = min(input.count, Self.helloLimit - helloCount)
        helloCount += shown
        unsafe wire.input = unsafe UnsafeBufferPointer(rebasing: input[..<shown])
        return input.count - shown
    }

    private func giveBack(_ held: Int) {
        guard held > 0 else { return }
        let rest = unsafe wire.input
        unsafe wire.input = unsafe UnsafeBufferPointer(
            start: rest.baseAddress, count: rest.count + held)
    }

    private func failure(_ result: Int32, held: Int) -> Reading {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ where held == 0 && !hasTooManyHandshakeMessages && !helloIsTooLong:
            isDrained = true
            return .needsInput
        case SSL_ERROR_ZERO_RETURN: return .ended
        default:
            isBroken = true
            return .broken
        }
    }

    private var helloIsTooLong: Bool { !hasHello && helloCount >= Self.helloLimit }

    /// Turns plaintext into the wire's output, all of it.
    ///
    /// - Returns: False when the session is beyond repair.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard isEstablished, !isBroken else { return false }
        Self.forgetErrors()
        var count = 0
        isBroken = unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count) != 1
        return !isBroken
    }

    private(set) var isBroken = false

    /// Writes close_notify, once (H170).
    func sendCloseNotify() {
        guard isEstablished, !isBroken, !hasSaidGoodbye else { return }
        hasSaidGoodbye = true
        Self.forgetErrors()
        // Does not wait for the peer's: the socket's own end says the same.
        _ = unsafe SSL_shutdown(ssl)
    }

    // MARK: The handshake

    /// The hello has come, with this name in it.
    ///
    /// - Returns: False when nobody here has that name and that is an error (H163).
    func greeted(by name: String?) -> Bool {
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

    private func establish() {
        isEstablished = true
        handshakeMessageCount = 0
        guard context.configuration.clientCertificates != .off,
            let peer = unsafe SSL_get0_peer_certificate(ssl),
            unsafe SSL_get_verify_result(ssl) == Int(X509_V_OK)
        else { return }
        client = unsafe ClientIdentity(verified: peer)
    }

    /// Whether the session was resumed from a ticket.
    var isScheduledToRead: Bool { unsafe SSL_session_reused(ssl) == 1 }

    /// A handshake message has come; after the handshake these are key updates and tries to
    /// renegotiate, which cost us more than the peer (H172).
    func countHandshakeMessage() {
        if isEstablished { handshakeMessageCount += 1 }
    }

    private var hasTooManyHandshakeMessages: Bool {
        handshakeMessageCount > context.configuration.maximumKeyUpdates
    }
}
