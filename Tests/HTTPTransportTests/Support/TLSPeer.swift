import COpenSSL
import Glibc

@testable import HTTPTransport

/// An OpenSSL client connected in memory to a ``TLSSession`` of the server.
final class TLSPeer {
    /// Options of a client, with the usual values as defaults.
    struct ClientOptions {
        var minimum = TLS1_2_VERSION
        var maximum = TLS1_3_VERSION
        var name: String? = "localhost"
        /// Protocol names as encoded in the ALPN extension, each after its length.
        var protocols: [UInt8] = []
        var suites12: String?
        var groups: String?
        var identity: TLSConfiguration.CertificateFiles?
        /// A session to resume; the client retains it.
        var session: OpaquePointer?
        /// OpenSSL's option bits, such as one that disables extended master secret.
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
    /// Plaintext that the server has read.
    private(set) var received: [UInt8] = []
    private var errorText = ""
    /// The result of the server's last read.
    private(set) var last = TLSSession.ReadResult.needsInput

    init(_ server: TLSContext, _ change: (inout ClientOptions) -> Void = { _ in }) {
        var options = ClientOptions()
        change(&options)
        context = Self.context(options)
        ssl = Self.client(context, options)
        incoming = BIO_new(BIO_s_mem()).unsafelyUnwrapped
        outgoing = BIO_new(BIO_s_mem()).unsafelyUnwrapped
        SSL_set_bio(ssl, incoming, outgoing)
        session = TLSSession(server, tlsBuffers).unsafelyUnwrapped
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    /// The context of a client.
    static func context(_ options: ClientOptions) -> OpaquePointer {
        let context = SSL_CTX_new(TLS_client_method()).unsafelyUnwrapped
        // The client accepts all that OpenSSL supports, so that only the server can refuse.
        SSL_CTX_set_security_level(context, 0)
        SSL_CTX_set_options(context, options.options)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(options.minimum), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(options.maximum), nil)
        if let suites = options.suites12 { SSL_CTX_set_cipher_list(context, suites) }
        if !options.protocols.isEmpty {
            SSL_CTX_set_alpn_protos(context, options.protocols, UInt32(options.protocols.count))
        }
        if let identity = options.identity {
            SSL_CTX_use_certificate_file(context, identity.chain, SSL_FILETYPE_PEM)
            SSL_CTX_use_PrivateKey_file(context, identity.key, SSL_FILETYPE_PEM)
        }
        return context
    }

    /// A client that has sent nothing yet.
    static func client(_ context: OpaquePointer, _ options: ClientOptions) -> OpaquePointer {
        let ssl = SSL_new(context).unsafelyUnwrapped
        SSL_set_connect_state(ssl)
        if var groups = options.groups.map({ list in Array(list.utf8CString) }) {
            SSL_ctrl(ssl, SSL_CTRL_SET_GROUPS_LIST, 0, &groups)
        }
        if var name = options.name.map({ name in Array(name.utf8CString) }) {
            SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
        if let session = options.session { SSL_set_session(ssl, session) }
        return ssl
    }

    // MARK: Exchange

    /// Transfers bytes both ways until neither side has more to send.
    ///
    /// - Parameters:
    ///   - cut: How many bytes the server receives at a time.
    ///   - capacity: How many bytes of plaintext the server reads at a time.
    func exchange(cut: Int = .max, capacity: Int = 65_536) {
        note(SSL_do_handshake(ssl))
        while true {
            let toServer = Self.drain(outgoing)
            guard !toServer.isEmpty else { break }
            serverReceives(toServer, cut: cut, capacity: capacity)
            deliverOutput()
            if SSL_is_init_finished(ssl) == 0 { note(SSL_do_handshake(ssl)) } else { peek() }
        }
    }

    /// Passes bytes of any source to the server.
    func serverReceives(_ bytes: [UInt8], cut: Int = .max, capacity: Int = 65_536) {
        var start = 0
        while start < bytes.count {
            let end = bytes.count - start > cut ? start + cut : bytes.count
            bytes[start..<end].withUnsafeBufferPointer { piece in
                tlsBuffers.input = piece
                readOnServer(capacity)
                while tlsBuffers.inputCount > 0 || !session.isDrained, case .bytes = last {
                    readOnServer(capacity)
                }
            }
            start = end
        }
        deliverOutput()
    }

    private func readOnServer(_ capacity: Int) {
        var buffer = [UInt8](repeating: 0, count: capacity)
        last = buffer.withUnsafeMutableBytes { buffer in session.read(into: buffer) }
        if case .bytes(let count) = last { received += buffer[..<count] }
    }

    /// Passes what the server has written to the client.
    private func deliverOutput() {
        let output = Array(tlsBuffers.output)
        tlsBuffers.clearOutput()
        BIO_write(incoming, output, Int32(output.count))
    }

    /// Lets the client process records without data, such as tickets.
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

    // MARK: Plaintext

    /// Encrypts on the client, without passing it to the server yet.
    func send(_ bytes: [UInt8]) { SSL_write(ssl, bytes, Int32(bytes.count)) }

    /// Encrypts on the server, and returns what the client decrypts.
    func serverSends(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.withUnsafeBytes({ bytes in session.write(bytes) }) else { return [] }
        deliverOutput()
        return clientReceives()
    }

    /// The plaintext that the client has received.
    func clientReceives() -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = SSL_read(ssl, &piece, Int32(piece.count)), count > 0 {
            all += piece[..<Int(count)]
        }
        return all
    }

    /// The client's error in OpenSSL's text; empty without an error.
    func clientError() -> String {
        if SSL_is_init_finished(ssl) == 1 { peek() } else { note(SSL_do_handshake(ssl)) }
        return errorText
    }

    private func note(_ result: Int32) {
        if result <= 0, SSL_get_error(ssl, result) == SSL_ERROR_SSL,
            let text = ERR_reason_error_string(ERR_peek_last_error())
        {
            errorText += String(cString: text)
        }
        ERR_clear_error()
    }

    /// Sends close_notify from the client; a session without it is not resumed.
    func close() { SSL_shutdown(ssl) }

    /// Whether both have finished the handshake.
    var isEstablished: Bool { session.isEstablished && SSL_is_init_finished(ssl) == 1 }
}
