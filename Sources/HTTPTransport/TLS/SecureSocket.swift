import CLinux
import Glibc
import HTTP

/// A socket behind TLS: plaintext is received and sent with the meaning of `recv` and `send`, -1 and
/// `errno` included.
@safe final class SecureSocket {
    // Belongs to its connection and is used on its loop; the spans it is given hold for the call.
    private let descriptor: Int32
    private let door: TLSAcceptor
    private let session: TLSSession
    private let wire: TLSBuffers

    /// Ciphertext that came and was not used, because nobody wanted its plaintext yet.
    private var kept: [UInt8] = []
    /// Ciphertext that the socket has not taken.
    private var unsent: [UInt8] = []
    /// The socket may hold bytes that were not read yet.
    var mayHaveData = true
    /// The peer's end has been announced: a short read proves nothing any more.
    var peerIsClosing = false
    /// The first byte, which tells a hello from everything else.
    private(set) var firstByte: UInt8?
    /// Whether the handshake is done, and its end was counted.
    private(set) var isEstablished = false
    /// Nothing can be said to this peer any more.
    private(set) var isBroken = false

    private static let hello: UInt8 = 22
    /// As much plaintext as is turned into ciphertext before it is sent.
    private static let share = 128 << 10

    /// Takes a descriptor; `nil` when memory is short.
    init?(_ descriptor: Int32, _ door: TLSAcceptor, _ wire: TLSBuffers) {
        guard let session = TLSSession(door.current, wire) else { return nil }
        self.descriptor = descriptor
        self.door = door
        self.session = session
        self.wire = wire
        door.handshakeBegins()
    }

    deinit { if !isEstablished { door.handshakeEnds(false, isScheduledToRead: false) } }

    /// Who the client has proved to be (H167).
    var client: ClientIdentity? { session.client }

    /// Nothing is left to be read, before the kernel tells of more.
    var isDrained: Bool { !mayHaveData && kept.isEmpty && session.isDrained }

    /// How much ciphertext waits for the socket.
    var unsentCount: Int { unsent.count }

    /// Whether any does.
    var hasUnsent: Bool { !unsent.isEmpty }

    /// Whether a host, in lower case and without its port, is one this session is for (H38).
    ///
    /// Only where several certificates are to be told apart, and a name did so.
    func isMeant(for host: String) -> Bool {
        let context = session.context
        guard context.certificates.count > 1, let name = session.serverName else { return true }
        return host == name || context.certificates[session.certificate].names.covers(host)
    }

    /// Whether ``isMeant(for:)`` ever says no.
    var choseCertificate: Bool {
        session.context.certificates.count > 1 && session.serverName != nil
    }

    // MARK: Receiving

    /// Plaintext, as much as there is room for: 0 at the peer's end, -1 with `errno` for none.
    func receive(_ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        let room = unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
        if isBroken { return fail(EPROTO) }
        if !kept.isEmpty || !session.isDrained {
            let taken = kept
            kept = []
            let read = unsafe taken.withUnsafeBufferPointer { bytes in
                unsafe look(bytes, into: room)
            }
            if let read { return read }
        }
        while mayHaveData {
            let buffer = unsafe wire.room
            let count = unsafe linux_recv(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { mayHaveData = false }
                return count
            }
            if count < buffer.count, !peerIsClosing { mayHaveData = false }
            if firstByte == nil {
                firstByte = unsafe buffer[0]
                guard firstByte == Self.hello else {
                    isBroken = true
                    return fail(EPROTO)
                }
            }
            let read = unsafe look(UnsafeBufferPointer(rebasing: buffer[..<count]), into: room)
            if let read { return read }
        }
        return fail(EAGAIN)
    }

    /// Shows ciphertext to the session; `nil` when it needs more.
    private func look(
        _ bytes: UnsafeBufferPointer<UInt8>, into room: UnsafeMutableRawBufferPointer
    ) -> Int? {
        unsafe wire.input = bytes
        let reading = unsafe session.read(into: room)
        if wire.inputCount > 0 { kept = unsafe Array(wire.input) }
        if !isEstablished, session.isEstablished {
            isEstablished = true
            door.handshakeEnds(true, isScheduledToRead: session.isScheduledToRead)
        }
        // Answers of the handshake, key updates, alerts; what breaks here shows at the next call.
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

    /// Takes plaintext, encrypts and sends it in one call, and says how much was taken; -1 with
    /// `EAGAIN` while ciphertext from before waits for the socket.
    func send(_ start: UnsafeRawPointer, _ count: Int, flags: Int32) -> Int {
        guard flush() else { return -1 }
        let taken = min(count, Self.share)
        guard unsafe session.write(UnsafeRawBufferPointer(start: start, count: taken)) else {
            isBroken = true
            return fail(EPROTO)
        }
        return sendOutput(flags: flags) ? taken : -1
    }

    /// Sends the ciphertext that waits; false with `errno` when not all of it has left.
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

    /// Says goodbye, once; best effort where the socket is full (H170).
    func sendCloseNotify() {
        guard !isBroken else { return }
        session.sendCloseNotify()
        _ = sendOutput(flags: 0)
    }

    /// Sends what the session has written; what the socket does not take is kept.
    ///
    /// - Returns: False with `errno` when the connection is broken.
    private func sendOutput(flags: Int32) -> Bool {
        guard wire.hasOutput else { return true }
        defer { wire.clearOutput() }
        let output = unsafe wire.output
        var sent = 0
        if unsent.isEmpty {
            sent = unsafe sendCiphertext(output, flags: flags)
            guard sent >= 0 else { return false }
        }
        unsafe unsent.append(contentsOf: output[sent...])
        return true
    }

    /// How much the socket has taken, 0 for nothing; -1 with `errno` when it is broken.
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
