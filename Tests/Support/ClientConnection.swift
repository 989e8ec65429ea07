internal import Glibc

/// A blocking connection of a test's client to a server on this machine; closed with its last reference.
public final class ClientConnection: Sendable {
    private let descriptor: Int32

    /// Connects to 127.0.0.1.
    ///
    /// - Parameter receiveBuffer: The size of the receive buffer of the socket; `nil` for that of the system. It must be set
    ///   before connecting: to a window that becomes smaller than half of the largest that it has seen, Linux sends
    ///   only a probe of one window every 200 ms, which is 40 KB a second.
    public init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if let receiveBuffer { set(SO_RCVBUF, receiveBuffer) }
        // A test that waits for missing bytes must fail, not hang.
        set(SO_RCVTIMEO, timeval(tv_sec: 180, tv_usec: 0))
        guard connectToLoopback(descriptor, port: port) else {
            throw SocketError(call: "connect", code: errno)
        }
    }

    deinit { close(descriptor) }

    private func set<Value: BitwiseCopyable>(_ option: Int32, _ value: Value) {
        var value = value
        setsockopt(
            descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Value>.size))
    }

    /// Sends bytes.
    public func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw SocketError(call: "send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits for bytes and returns them; none when the server has closed the connection.
    public func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw SocketError(call: "recv", code: errno) }
        return Array(buffer[..<count])
    }

    /// Whether bytes, or the end of the connection, come within that many milliseconds.
    public func isReadable(within milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, milliseconds) != 0
    }
}

/// A failed call of a test's client, or a server that answers otherwise than expected.
public struct SocketError: Error {
    /// What failed.
    public let call: String
    /// The error number; 0 for none.
    public let code: Int32

    /// Creates an error.
    public init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// Whether the server has reset the connection.
    public var isReset: Bool { code == ECONNRESET }
}
