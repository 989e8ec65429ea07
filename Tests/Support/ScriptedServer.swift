internal import Dispatch
internal import Glibc

/// A TCP server that handles every connection with a test's script.
///
/// Each connection has a thread and is closed when the script returns.
public final class ScriptedServer: Sendable {
    /// Its port on 127.0.0.1.
    public let port: UInt16
    private let listener: Int32
    private let connections = DispatchGroup()

    /// An accepted connection; its calls block.
    public struct Connection: Sendable {
        /// The socket.
        public let descriptor: Int32
        /// 0 for the first connection.
        public let number: Int

        /// Reads up to the empty line after the headers; `nil` if the peer has closed.
        public func readHead() -> String? {
            var bytes: [UInt8] = []
            while !bytes.suffix(4).elementsEqual(Array("\r\n\r\n".utf8)) {
                guard let byte = read(1)?.first else { return nil }
                bytes.append(byte)
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Reads exactly that many bytes; `nil` if the peer closes before.
        public func read(_ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            return recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count
                ? bytes : nil
        }

        /// Sends bytes; false if the peer has closed.
        @discardableResult
        public func write(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { bytes in
                    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// Sends text.
        @discardableResult
        public func write(_ text: String) -> Bool { write(Array(text.utf8)) }
    }

    /// Starts listening.
    public init(_ script: @escaping @Sendable (Connection) -> Void) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound else {
            close(listener)
            throw Failure(code: errno)
        }
        port = UInt16(bigEndian: address.sin_port)
        let connections = connections
        Self.onThread(in: connections) {
            var number = 0
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                let connection = Connection(descriptor: descriptor, number: number)
                number += 1
                Self.onThread(in: connections) {
                    script(connection)
                    close(descriptor)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        connections.wait()
        close(listener)
    }

    /// The server could not listen.
    public struct Failure: Error {
        /// `errno`.
        public let code: Int32
    }

    private static func onThread(
        in group: DispatchGroup, _ body: @escaping @Sendable () -> Void
    ) {
        DispatchQueue(label: "scripted-server").async(group: group, execute: body)
    }
}

private func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

/// Connects a socket to a port of this machine; `false`, with the reason in `errno`, if that fails.
public func connectToLoopback(_ socket: Int32, port: UInt16) -> Bool {
    var address = loopback(port: port)
    let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    return result == 0
}
