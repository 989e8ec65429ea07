import COpenSSL
import Glibc

@testable import HTTPTransport

/// A client made of OpenSSL and a session of ours, joined in memory.
final class TLSPeer {
    /// What a client may do otherwise than usual.
    struct Manners {
        var minimum = TLS1_2_VERSION
        var maximum = TLS1_3_VERSION
        var name: String? = "localhost"
        /// Names in the form of the extension, each with its length.
        var protocols: [UInt8] = []
        var suites12: String?
        var groups: String?
        var identity: TLSConfiguration.CertificateFiles?
        /// A session to resume; the client takes a reference of its own.
        var session: OpaquePointer?
        /// Offers extended master secret.
        var options: UInt64 = 0
    }

    /// The client.
    let ssl: OpaquePointer
    private let context: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// The server.
    let session: TLSSession
    private let tlsBuffers = TLSBuffers()
    /// Plaintext the server has read.
    private(set) var received: [UInt8] = []
    private var fault = ""
    /// How the server's last look ended.
    private(set) var last = TLSSession.ReadResult.needsInput

    init(_ server: TLSContext, _ change: (inout Manners) -> Void = { _ in }) {
        var manners = Manners()
        change(&manners)
        context = Self.context(manners)
        ssl = Self.client(context, manners)
        incoming = BIO_new(BIO_s_mem()).unsafelyUnwrapped
        outgoing = BIO_new(BIO_s_mem()).unsafelyUnwrapped
        SSL_set_bio(ssl, incoming, outgoing)
        session = TLSSession(server, tlsBuffers).unsafelyUnwrapped
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    /// A client's context.
    static func context(_ manners: Manners) -> OpaquePointer {
        let context = SSL_CTX_new(TLS_client_method()).unsafelyUnwrapped
        // A client that is less careful than we are: what is refused is refused by the server.
        SSL_CTX_set_security_level(context, 0)
        SSL_CTX_set_options(context, manners.options)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(manners.minimum), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(manners.maximum), nil)
        if let suites = manners.suites12 { SSL_CTX_set_cipher_list(context, suites) }
        if !manners.protocols.isEmpty {
            SSL_CTX_set_alpn_protos(context, manners.protocols, UInt32(manners.protocols.count))
        }
        if let identity = manners.identity {
            SSL_CTX_use_certificate_file(context, identity.chain, SSL_FILETYPE_PEM)
            SSL_CTX_use_PrivateKey_file(context, identity.key, SSL_FILETYPE_PEM)
        }
        return context
    }

    /// A client that has said nothing yet.
    static func client(_ context: OpaquePointer, _ manners: Manners) -> OpaquePointer {
        let ssl = SSL_new(context).unsafelyUnwrapped
        SSL_set_connect_state(ssl)
        if var groups = manners.groups.map({ list in Array(list.utf8CString) }) {
            SSL_ctrl(ssl, SSL_CTRL_SET_GROUPS_LIST, 0, &groups)
        }
        if var name = manners.name.map({ name in Array(name.utf8CString) }) {
            SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
        if let session = manners.session { SSL_set_session(ssl, session) }
        return ssl
    }

    // MARK: Between the two

    /// Lets both talk until neither has anything to say.
    ///
    /// - Parameters:
    ///   - cut: How many bytes reach the server at a time.
    ///   - capacity: How many bytes of plaintext the server takes at a time.
    func talk(cut: Int = .max, capacity: Int = 65_536) {
        note(SSL_do_handshake(ssl))
        while true {
            let toServer = Self.drain(outgoing)
            guard !toServer.isEmpty else { break }
            hear(toServer, cut: cut, capacity: capacity)
            answer()
            if SSL_is_init_finished(ssl) == 0 { note(SSL_do_handshake(ssl)) } else { peek() }
        }
    }

    /// The server receives bytes from any source.
    func hear(_ bytes: [UInt8], cut: Int = .max, capacity: Int = 65_536) {
        var start = 0
        while start < bytes.count {
            let end = bytes.count - start > cut ? start + cut : bytes.count
            bytes[start..<end].withUnsafeBufferPointer { piece in
                tlsBuffers.input = piece
                look(capacity)
                while tlsBuffers.inputCount > 0 || !session.isDrained, case .bytes = last {
                    look(capacity)
                }
            }
            start = end
        }
        answer()
    }

    private func look(_ capacity: Int) {
        var buffer = [UInt8](repeating: 0, count: capacity)
        last = buffer.withUnsafeMutableBytes { buffer in session.read(into: buffer) }
        if case .bytes(let count) = last { received += buffer[..<count] }
    }

    /// What the server has written reaches the client.
    private func answer() {
        let output = Array(tlsBuffers.output)
        tlsBuffers.clearOutput()
        BIO_write(incoming, output, Int32(output.count))
    }

    /// Lets the client see what is no data, such as tickets.
    private func peek() {
        var byte: UInt8 = 0
        note(SSL_peek(ssl, &byte, 1))
    }

    private static func drain(_ bio: OpaquePointer) -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = BIO_read(bio, &piece, Int32(piece.count)), count > 0 {
            all += piece[..<Int(count)]
        }
        return all
    }

    // MARK: The client's part

    /// Encrypts, without sending it to the server yet.
    func say(_ bytes: [UInt8]) { SSL_write(ssl, bytes, Int32(bytes.count)) }

    /// The server encrypts, and the client decrypts all of it.
    func serverSays(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.withUnsafeBytes({ bytes in session.write(bytes) }) else { return [] }
        answer()
        return heard()
    }

    /// Everything that has come to the client.
    func heard() -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = SSL_read(ssl, &piece, Int32(piece.count)), count > 0 {
            all += piece[..<Int(count)]
        }
        return all
    }

    /// What the client says went wrong, in OpenSSL's words; empty when nothing did.
    func clientsFault() -> String {
        if SSL_is_init_finished(ssl) == 1 { peek() } else { note(SSL_do_handshake(ssl)) }
        return fault
    }

    private func note(_ result: Int32) {
        if result <= 0, SSL_get_error(ssl, result) == SSL_ERROR_SSL,
            let text = ERR_reason_error_string(ERR_peek_last_error())
        {
            fault += String(cString: text)
        }
        ERR_clear_error()
    }

    /// Ends the client's side in good order; a session that broke off is not resumed.
    func close() { SSL_shutdown(ssl) }

    /// Whether both have finished the handshake.
    var isEstablished: Bool { session.isEstablished && SSL_is_init_finished(ssl) == 1 }
}
