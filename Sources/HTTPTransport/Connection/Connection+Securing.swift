import CLinux
import Glibc
import HTTP

// What TLS changes for a connection: where octets come from and go to, and how it begins and breaks.
extension Connection {
    /// `recv`, through TLS where there is any; whether more may be there is noted in `canRead`.
    @inline(__always)
    func receive(_ start: UnsafeMutableRawPointer?, _ room: Int) -> Int {
        guard let secure else {
            let count = unsafe linux_recv(descriptor, start, room, 0)
            // A short read has emptied the socket: the next octets will be announced.
            if count > 0, count < room, !endIsNear { canRead = false }
            return count
        }
        return unsafe receive(from: secure, start, room)
    }

    private func receive(
        from secure: SecureSocket, _ start: UnsafeMutableRawPointer?, _ room: Int
    ) -> Int {
        let wasEstablished = secure.isEstablished
        let count = unsafe secure.receive(start, room)
        let code = errno
        if !wasEstablished, secure.isEstablished {
            // The first head is due from the end of the handshake (H174).
            setDue(loop.now + configuration.headerTimeout)
        }
        if secure.hasUnsent { wantsFlush = true }
        if count > 0, secure.isDry { canRead = false }
        errno = code
        return count
    }

    /// TLS has begun, and its handshake is not over.
    var isShakingHands: Bool { secure?.isEstablished == false }

    /// How many octets wait for the socket, encrypted or not yet.
    var waitingCount: Int64 { output.count + Int64(secure?.unsentCount ?? 0) }

    /// Whether something waits for the socket, encrypted or not yet.
    var hasOutput: Bool { !output.isEmpty || secure?.hasUnsent == true }

    /// The session is beyond repair; where TLS has words for it, they have been sent.
    func sessionBroke(_ secure: SecureSocket) {
        self.secure = nil
        if let first = secure.firstOctet, (0x41...0x5A).contains(first) {
            // Somebody speaks HTTP: one answer in plain text, and no way to anywhere (H169).
            return refuse(Refusal(.badRequest, "H169", "This port is for HTTPS."))
        }
        let last = phase
        phase = .closing
        partial = nil
        output = SendQueue()
        clearStall()
        // The alert shall be read before a reset destroys it (H96).
        shutDown()
        giveUp(last, "tls", unsent: 0)
    }

    /// Says goodbye in TLS before the socket does (H170).
    ///
    /// - Returns: False while that waits for the socket.
    func leaveSession() -> Bool {
        guard let secure else { return true }
        secure.sayGoodbye()
        guard !secure.hasUnsent else {
            phase = .closing
            outputStalled(sent: 0)
            return false
        }
        // What still comes is thrown away as it is.
        self.secure = nil
        canRead = true
        return true
    }

    /// Whether a request is for the host whose certificate it came under (H38).
    func isMisdirected(_ fields: Fields) -> Bool {
        guard let secure, secure.choseCertificate, let host = fields["Host"] else { return false }
        let name = host.prefix { character in character != ":" }
        return !secure.isMeant(for: CertificateNames.folded(name))
    }
}
