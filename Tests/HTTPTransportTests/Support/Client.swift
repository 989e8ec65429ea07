import Glibc

/// A client made of plain blocking calls, which sends exactly the given bytes.
///
/// Every call fails after a minute, so that a server that hangs fails its test.
class Client {
    enum Failure: Error, Equatable {
        /// Nothing was received within the timeout.
        case timedOut
        /// The peer reset the connection (`ECONNRESET`, `EPIPE`).
        case reset
        /// The stream ended inside an answer; the value is what was received.
        case ended(String)
        case system(Int32)
    }

    let descriptor: Int32
    /// Bytes that were received and not returned yet.
    private var unread: [UInt8] = []

    /// Takes ownership of a connected socket.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        restoreTimeout()
    }

    deinit { close(descriptor) }

    /// Sets how long one receiving or sending call may wait.
    func setTimeout(milliseconds: Int) {
        var time = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Lets calls wait as long as in a new client.
    func restoreTimeout() { setTimeout(milliseconds: 60_000) }

    /// Sets the size of the receive buffer: small for clients that read slowly.
    func setReceiveBuffer(_ size: Int32) {
        var size = size
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: Sending

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends all bytes.
    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { rest in
                write(rest)
            }
            guard count > 0 else { throw failure() }
            sent += count
        }
    }

    /// Sends until the socket accepts no more for 300 ms, and returns how many bytes were sent.
    func sendUntilBlocked(_ bytes: [UInt8]) -> Int {
        setTimeout(milliseconds: 300)
        defer { restoreTimeout() }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { rest in
                Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    /// Ends the client's side of the connection; the peer can still send.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Resets the connection.
    func reset() {
        var noLinger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &noLinger, socklen_t(MemoryLayout<linger>.size))
        // The descriptor itself is closed once, by `deinit`; this resets the connection now.
        var unspecified = sockaddr()
        unspecified.sa_family = sa_family_t(AF_UNSPEC)
        Glibc.connect(descriptor, &unspecified, socklen_t(MemoryLayout<sockaddr>.size))
    }

    // MARK: Receiving

    /// The bytes of one call; empty at the end.
    func receive(atMost limit: Int = 65_536) throws -> [UInt8] {
        if !unread.isEmpty {
            defer { unread = [] }
            return unread
        }
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = buffer.withUnsafeMutableBytes { space in read(space) }
        guard count >= 0 else { throw failure() }
        return Array(buffer[..<count])
    }

    /// All bytes up to the peer's end.
    func rest() throws -> String {
        var all: [UInt8] = []
        while true {
            let piece = try receive()
            if piece.isEmpty { return String(decoding: all, as: UTF8.self) }
            all += piece
        }
    }

    /// The bytes between a head and the peer's end.
    func content() throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let piece = try receive(atMost: 1 << 20)
            if piece.isEmpty { break }
            all += piece
        }
        let end = all.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? all.count
        return Array(all[end...])
    }

    /// One answer: its head, and as much content as the head announces.
    func answer(withoutContent: Bool = false) throws -> Reply {
        let blank = Array("\r\n\r\n".utf8)
        var bytes = unread
        unread = []
        var end: Int?
        while end == nil {
            end = bytes.firstRange(of: blank)?.upperBound
            guard end == nil else { break }
            let piece = try receive()
            guard !piece.isEmpty else {
                throw Failure.ended(String(decoding: bytes, as: UTF8.self))
            }
            bytes += piece
        }
        var reply = Reply(head: String(decoding: bytes[..<(end ?? 0)], as: UTF8.self))
        var content = Array(bytes[(end ?? 0)...])
        let length = withoutContent ? 0 : Int(reply["Content-Length"] ?? "0") ?? 0
        while content.count < length {
            let piece = try receive()
            guard !piece.isEmpty else { throw Failure.ended(reply.head) }
            content += piece
        }
        unread = Array(content[length...])
        reply.content = Array(content[..<length])
        return reply
    }

    /// `send`; overridden by clients with another transport.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// `recv`; overridden by clients with another transport.
    func read(_ space: UnsafeMutableRawBufferPointer) -> Int {
        recv(descriptor, space.baseAddress, space.count, 0)
    }

    private func failure() -> Failure {
        switch errno {
        case EAGAIN: .timedOut
        case ECONNRESET, EPIPE: .reset
        default: .system(errno)
        }
    }
}

/// An answer as received by a client.
struct Reply {
    let head: String
    var content: [UInt8] = []

    var status: Int { Int(head.split(separator: " ", maxSplits: 2).dropFirst().first ?? "") ?? 0 }
    var text: String { String(decoding: content, as: UTF8.self) }

    /// The value of a field, named exactly as it is sent.
    subscript(name: String) -> String? {
        head.split(separator: "\r\n").dropFirst().first { line in line.hasPrefix(name + ": ") }
            .map { line in String(line.dropFirst(name.count + 2)) }
    }
}

/// The resident memory of this process, without the kernel's buffers.
func residentBytes() throws -> Int {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Client.Failure.system(errno) }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 128)
    let count = read(file, &text, text.count)
    let words = text[..<max(count, 0)].split(separator: UInt8(ascii: " "))
    guard words.count > 1, let pages = Int(String(decoding: words[1], as: UTF8.self)) else {
        throw Client.Failure.system(EIO)
    }
    return pages * sysconf(Int32(_SC_PAGESIZE))
}
