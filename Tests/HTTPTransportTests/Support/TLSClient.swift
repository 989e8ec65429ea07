import COpenSSL
import Glibc
import HTTP
import HTTPTransport

/// A client that speaks TLS over a blocking socket.
final class TLSClient: Client {
    let ssl: OpaquePointer
    private let context: OpaquePointer
    /// Whether the server has said goodbye in TLS.
    var hasCloseNotify: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// Takes a connected socket over and shakes hands.
    ///
    /// - Throws: ``Client/Failure/ended(_:)`` with OpenSSL's words when the server refuses.
    init(descriptor: Int32, _ change: (inout TLSPeer.Manners) -> Void) throws {
        var manners = TLSPeer.Manners()
        change(&manners)
        context = TLSPeer.context(manners)
        ssl = TLSPeer.client(context, manners)
        super.init(descriptor: descriptor)
        SSL_set_fd(ssl, descriptor)
        guard SSL_do_handshake(ssl) == 1 else { throw fault() }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    override func give(_ bytes: UnsafeRawBufferPointer) -> Int {
        ERR_clear_error()
        return Int(SSL_write(ssl, bytes.baseAddress, Int32(bytes.count)))
    }

    override func take(_ space: UnsafeMutableRawBufferPointer) -> Int {
        ERR_clear_error()
        errno = 0
        let count = SSL_read(ssl, space.baseAddress, Int32(space.count))
        if count > 0 { return Int(count) }
        // The end, with a goodbye or without one; which it was can be asked.
        return hasCloseNotify || errno != EAGAIN ? 0 : -1
    }

    /// Ends our side in TLS only.
    func sendCloseNotify() { SSL_shutdown(ssl) }

    private func fault() -> Failure {
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
    func connectSecurely(_ change: (inout TLSPeer.Manners) -> Void = { _ in }) throws -> TLSClient {
        try TLSClient(descriptor: try Client.connect(to: address), change)
    }
}

/// Runs a server that speaks TLS for as long as `body` talks with it.
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
            configuration.tls = tls
            change(&configuration)
        }, body)
}
