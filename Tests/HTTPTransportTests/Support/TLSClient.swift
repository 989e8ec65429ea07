import COpenSSL
import Glibc
import HTTP
import HTTPTransport

/// A client that speaks TLS over a blocking socket.
final class TLSClient: Client {
    let ssl: OpaquePointer
    private let context: OpaquePointer
    /// Whether the server has sent close_notify.
    var hasCloseNotify: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// Takes ownership of a connected socket and performs the handshake.
    ///
    /// - Throws: ``Client/Failure/ended(_:)`` with OpenSSL's text when the server refuses.
    init(descriptor: Int32, _ change: (inout TLSPeer.ClientOptions) -> Void) throws {
        var options = TLSPeer.ClientOptions()
        change(&options)
        context = TLSPeer.context(options)
        ssl = TLSPeer.client(context, options)
        super.init(descriptor: descriptor)
        SSL_set_fd(ssl, descriptor)
        guard SSL_do_handshake(ssl) == 1 else { throw failure() }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    override func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        ERR_clear_error()
        return Int(SSL_write(ssl, bytes.baseAddress, Int32(bytes.count)))
    }

    override func read(_ space: UnsafeMutableRawBufferPointer) -> Int {
        ERR_clear_error()
        errno = 0
        let count = SSL_read(ssl, space.baseAddress, Int32(space.count))
        if count > 0 { return Int(count) }
        // The end, with close_notify or without; `hasCloseNotify` distinguishes them.
        return hasCloseNotify || errno != EAGAIN ? 0 : -1
    }

    /// Ends the client's side in TLS only, not in TCP.
    func sendCloseNotify() { SSL_shutdown(ssl) }

    private func failure() -> Failure {
        defer { ERR_clear_error() }
        guard let text = ERR_reason_error_string(ERR_peek_last_error()) else { return .reset }
        return .ended(String(cString: text))
    }

    /// The SHA-256 of the server's certificate.
    var certificateDigest: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        X509_digest(SSL_get0_peer_certificate(ssl), EVP_sha256(), &digest, nil)
        return digest
    }
}

extension LiveServer {
    /// A new connection with TLS.
    func connectSecurely(_ change: (inout TLSPeer.ClientOptions) -> Void = { _ in }) throws
        -> TLSClient
    {
        try TLSClient(descriptor: try Client.connect(to: address), change)
    }
}

/// Runs a server with TLS while `body` sends requests to it.
func servingSecurely<Result: Sendable>(
    _ authority: TestAuthority, _ service: any Service = TestService(),
    with change: (inout ServerConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (LiveServer) throws -> Result
) async throws -> Result {
    try await serving(
        service,
        with: { configuration in
            configuration.addresses = []
            var tls = TLSConfiguration()
            tls.addresses = [.ipv4(0x7F00_0001, port: 0)]
            tls.certificates = [authority.pair()]
            // Long enough for a client on a busy machine.
            tls.handshakeTimeout = 60_000
            configuration.tls = tls
            change(&configuration)
        }, body)
}
