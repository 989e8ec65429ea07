internal import Dispatch
internal import Glibc

/// A WebSocket client over a plain socket, without compression; its calls do not block Swift's threads.
public final class WebSocketClient: @unchecked Sendable {
    // Sendable because all state is used on `queue`.

    /// A frame from the server.
    public struct Frame: Equatable, Sendable {
        /// 1 for text, 2 for binary, 8 for close, 9 for ping, 10 for pong.
        public let opcode: UInt8
        /// The payload.
        public let payload: [UInt8]

        /// The text of a text frame.
        public var text: String { String(decoding: payload, as: UTF8.self) }
        /// The code of a close frame; `nil` for another frame or none.
        public var closeCode: Int? {
            opcode == 8 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil
        }
    }

    /// A failed system call, or a server that answers otherwise than expected.
    public struct Failure: Error {
        /// What failed.
        public let what: String
    }

    private let queue = DispatchQueue(label: "websocket client")
    private let socket: Int32
    private var bytes: [UInt8] = []
    /// The head of the answer to the handshake.
    public private(set) var head = ""

    /// The status of the answer to the handshake; 101 for an open socket.
    public var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }

    /// Connects to 127.0.0.1 and sends a handshake.
    ///
    /// - Parameters:
    ///   - target: The path and query.
    ///   - protocols: The value of `Sec-WebSocket-Protocol`; `nil` for none.
    ///   - fields: More header lines, each with its line end.
    ///   - receiveBuffer: The size of the receive buffer of the socket; `nil` for that of the system.
    public init(
        port: UInt16, target: String, protocols: String? = "layer-3.0", fields: String = "",
        receiveBuffer: Int32? = nil
    ) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        // A test that waits for a missing packet must fail, not hang.
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        guard connectToLoopback(socket, port: port) else {
            throw Failure(what: "connect: \(errno)")
        }
        let named = protocols.map { names in "Sec-WebSocket-Protocol: \(names)\r\n" } ?? ""
        try write(
            Array(
                """
                GET \(target) HTTP/1.1\r
                Host: 127.0.0.1\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                \(named)\(fields)\r

                """.utf8))
        try readHead()
    }

    deinit { close(socket) }

    /// The body of an answer other than 101, whose length the head names.
    public func body() async throws -> String {
        try await run {
            let length = self.head.split(separator: "\r\n")
                .first { $0.lowercased().hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst(15).filter { $0 != " " }) }
            while self.bytes.count < length ?? 0 { try self.receive() }
            return String(decoding: self.bytes.prefix(length ?? 0), as: UTF8.self)
        }
    }

    /// Sends a text message.
    public func send(_ text: String) async throws { try await send(1, Array(text.utf8)) }

    /// Sends a frame, masked.
    public func send(_ opcode: UInt8, _ payload: [UInt8]) async throws {
        try await run { try self.write(Self.frame(opcode, payload)) }
    }

    /// Sends any bytes.
    public func send(raw bytes: [UInt8]) async throws {
        try await run { try self.write(bytes) }
    }

    /// Reads the next frame; pings are answered and left out. `nil` when the connection ends.
    public func next() async throws -> Frame? {
        try await run {
            while true {
                guard let frame = try self.readFrame() else { return nil }
                guard frame.opcode == 9 else { return frame }
                try self.write(Self.frame(10, frame.payload))
            }
        }
    }

    /// Whether nothing but pings comes for that many milliseconds.
    public func isSilent(for milliseconds: Int32) async throws -> Bool {
        try await run {
            guard self.bytes.isEmpty else { return false }
            var descriptor = pollfd(fd: self.socket, events: Int16(POLLIN), revents: 0)
            return poll(&descriptor, 1, milliseconds) == 0
        }
    }

    /// A masked frame of a client.
    public static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0x80 | opcode]
        switch payload.count {
        case ..<126: frame.append(0x80 | UInt8(payload.count))
        case ..<65_536:
            frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            frame.append(0x80 | 127)
            frame += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        let key: [UInt8] = [1, 2, 3, 4]
        frame += key
        frame += payload.enumerated().map { index, byte in byte ^ key[index % 4] }
        return frame
    }

    private func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    private func readHead() throws {
        while true {
            if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                bytes.removeFirst(end.upperBound)
                return
            }
            try receive()
        }
    }

    private func readFrame() throws -> Frame? {
        while true {
            if let frame = takeFrame() { return frame }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(socket, &buffer, buffer.count, 0)
            if count == 0 || count < 0 && errno == ECONNRESET { return nil }
            guard count > 0 else { throw Failure(what: "recv: \(errno)") }
            bytes += buffer[..<count]
        }
    }

    private func takeFrame() -> Frame? {
        guard bytes.count >= 2 else { return nil }
        var (start, length) = (2, Int(bytes[1] & 0x7F))
        if length == 126 {
            guard bytes.count >= 4 else { return nil }
            (start, length) = (4, Int(bytes[2]) << 8 | Int(bytes[3]))
        } else if length == 127 {
            guard bytes.count >= 10 else { return nil }
            start = 10
            length = bytes[2..<10].reduce(0) { $0 << 8 | Int($1) }
        }
        guard bytes.count >= start + length else { return nil }
        let frame = Frame(
            opcode: bytes[0] & 0x0F, payload: Array(bytes[start..<(start + length)]))
        bytes.removeFirst(start + length)
        return frame
    }

    private func receive() throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { throw Failure(what: "recv: \(errno)") }
        bytes += buffer[..<count]
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(what: "send: \(errno)") }
            rest = rest.dropFirst(count)
        }
    }
}
