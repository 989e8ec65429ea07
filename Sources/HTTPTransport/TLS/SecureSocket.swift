import CLinux
import Glibc
import HTTP

/// A socket with TLS: plaintext is received and sent with the meaning of `recv` and `send`, including -1 and
/// `errno`.
@safe final class SecureSocket {
    // Belongs to its connection and is used on its loop; pointers are valid for the call.
    private let descriptor: Int32
    private let acceptor: TLSAcceptor
    private let session: TLSSession
    private let tlsBuffers: TLSBuffers

    /// Received ciphertext that is not decrypted yet.
    private var undecrypted: [UInt8] = []
    /// Ciphertext that the socket has not accepted yet.
    private var unsent: [UInt8] = []
    /// Whether the socket may have bytes to read.
    var mayHaveData = true
    /// Whether the peer has shut down its sending side; a short read then does not mean that the socket is empty.
    var peerIsClosing = false
    /// The first byte received, which distinguishes a TLS ClientHello from other protocols.
    private(set) var firstByte: UInt8?
    /// Whether the handshake has succeeded.
    private(set) var isEstablished = false
    /// Whether the session has failed.
    private(set) var isBroken = false

    private static let handshakeRecord: UInt8 = 22
    /// The maximum number of plaintext bytes that are encrypted before they are sent.
    private static let encryptionLimit = 128 << 10

    /// - Returns: `nil` when there is no memory.
    init?(_ descriptor: Int32, _ acceptor: TLSAcceptor, _ tlsBuffers: TLSBuffers) {
        guard let session = TLSSession(acceptor.current, tlsBuffers) else { return nil }
        self.descriptor = descriptor
        self.acceptor = acceptor
        self.session = session
        self.tlsBuffers = tlsBuffers
        acceptor.handshakeBegins()
    }

    deinit { if !isEstablished { acceptor.handshakeEnds(false, isResumed: false) } }

    /// The verified client certificate (H167).
    var client: ClientIdentity? { session.client }

    /// Whether there is nothing to read until epoll reports more.
    var isDrained: Bool { !mayHaveData && undecrypted.isEmpty && session.isDrained }

    /// The number of ciphertext bytes that the socket has not accepted.
    var unsentCount: Int { unsent.count }

    /// Whether there is unsent ciphertext.
    var hasUnsent: Bool { !unsent.isEmpty }

    /// Whether a host, in lower case and without port, is one that this session serves (H38).
    ///
    /// It is false only when several certificates are in use and the client's server name has selected one.
    func isMeant(for host: String) -> Bool {
        let context = session.context
        guard context.certificates.count > 1, let name = session.serverName else { return true }
        return host == name || context.certificates[session.certificate].names.covers(host)
    }

    /// Whether ``isMeant(for:)`` can be false.
    var choseCertificate: Bool {
        session.context.certificates.count > 1 && session.serverName != nil
    }

    // MARK: Receiving

    /// Receives plaintext: 0 at the peer's end, -1 with `errno` when there is none.
    func receive(_ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        let target = unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
        if isBroken { return fail(EPROTO) }
        if !undecrypted.isEmpty || !session.isDrained {
            let taken = undecrypted
            undecrypted = []
            let read = unsafe taken.withUnsafeBufferPointer { bytes in
                unsafe decrypt(bytes, into: target)
            }
            if let read { return read }
        }
        while mayHaveData {
            let buffer = unsafe tlsBuffers.receiveBuffer
            let count = unsafe linux_recv(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { mayHaveData = false }
                return count
            }
            if count < buffer.count, !peerIsClosing { mayHaveData = false }
            if firstByte == nil {
                firstByte = unsafe buffer[0]
                guard firstByte == Self.handshakeRecord else {
                    isBroken = true
                    return fail(EPROTO)
                }
            }
            let read = unsafe decrypt(UnsafeBufferPointer(rebasing: buffer[..<count]), into: target)
            if let read { return read }
        }
        return fail(EAGAIN)
    }

    /// Decrypts ciphertext.
    ///
    /// - Returns: `nil` when more ciphertext is needed.
    private func decrypt(
        _ bytes: UnsafeBufferPointer<UInt8>, into target: UnsafeMutableRawBufferPointer
    ) -> Int? {
        unsafe tlsBuffers.input = bytes
        let reading = unsafe session.read(into: target)
        if tlsBuffers.inputCount > 0 { undecrypted = unsafe Array(tlsBuffers.input) }
        if !isEstablished, session.isEstablished {
            isEstablished = true
            acceptor.handshakeEnds(true, isResumed: session.isResumed)
        }
        // Sends handshake messages, key updates and alerts; an error shows at the next call.
        _ = sendOutput(flags: 0)
        switch reading {
        case .bytes(let count): return count
        case .needsInput: return nil
        case .ended: return 0
        case .broken:
            isBroken = true
            return fail(EPROTO)
        }
    }

    // MARK: Sending

    /// Encrypts and sends plaintext.
    ///
    /// - Returns: The number of plaintext bytes taken; -1 with `EAGAIN` while the socket has not accepted
    ///   earlier ciphertext.
    func send(_ start: UnsafeRawPointer, _ count: Int, flags: Int32) -> Int {
        guard flush() else { return -1 }
        let taken = min(count, Self.encryptionLimit)
        guard unsafe session.write(UnsafeRawBufferPointer(start: start, count: taken)) else {
            isBroken = true
            return fail(EPROTO)
        }
        return sendOutput(flags: flags) ? taken : -1
    }

    /// Sends the waiting ciphertext.
    ///
    /// - Returns: False with `errno` when some of it is left.
    func flush() -> Bool {
        guard !unsent.isEmpty else { return true }
        let waiting = unsent
        unsent = []
        let count = unsafe waiting.withUnsafeBytes { bytes in
            unsafe sendCiphertext(bytes, flags: 0)
        }
        guard count >= 0 else { return false }
        guard count < waiting.count else { return true }
        unsent = Array(waiting[count...])
        errno = EAGAIN
        return false
    }

    /// Sends close_notify once; best effort when the socket is full (H170).
    func sendCloseNotify() {
        guard !isBroken else { return }
        session.sendCloseNotify()
        _ = sendOutput(flags: 0)
    }

    /// Sends the output of the session; ciphertext that the socket does not accept is kept.
    ///
    /// - Returns: False with `errno` when the connection is broken.
    private func sendOutput(flags: Int32) -> Bool {
        guard tlsBuffers.hasOutput else { return true }
        defer { tlsBuffers.clearOutput() }
        let output = unsafe tlsBuffers.output
        var sent = 0
        if unsent.isEmpty {
            sent = unsafe sendCiphertext(output, flags: flags)
            guard sent >= 0 else { return false }
        }
        unsafe unsent.append(contentsOf: output[sent...])
        return true
    }

    /// Sends ciphertext.
    ///
    /// - Returns: The number of bytes accepted, 0 for none; -1 with `errno` when the connection is broken.
    private func sendCiphertext(_ bytes: UnsafeRawBufferPointer, flags: Int32) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe linux_send(
                descriptor, bytes.baseAddress.unsafelyUnwrapped + sent, bytes.count - sent,
                flags | Int32(MSG_NOSIGNAL))
            if count < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN ? sent : -1
            }
            sent += count
        }
        return sent
    }

    private func fail(_ code: Int32) -> Int {
        errno = code
        return -1
    }
}
