internal import Dispatch

/// A WebSocket client over a plain socket, without compression; its calls do not block Swift's threads.
public final class WebSocketClient: @unchecked Sendable {
    // Sendable because all state is used on `queue`.

    /// A frame from the server.
    public struct Frame: Equatable, Sendable {
        /// 1 for text, 2 for binary, 8 for close, 9 for ping, 10 for pong.
        public let opcode: UInt8
        /// Whether the payload is compressed (RFC 7692).
        public let isCompressed: Bool
        /// The payload.
        public let payload: [UInt8]

        /// The text of a text frame.
        public var text: String { String(decoding: payload, as: UTF8.self) }
        /// The code of a close frame; `nil` for another frame or none.
        public var closeCode: Int? {
            opcode == 8 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil
        }
    }

    private let queue = DispatchQueue(label: "websocket client")
    private let connection: ClientConnection
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
        connection = try ClientConnection(port: port, receiveBuffer: receiveBuffer)
        let named = protocols.map { names in "Sec-WebSocket-Protocol: \(names)\r\n" } ?? ""
        try connection.send(
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
        try await run { try self.connection.send(Self.frame(opcode, payload)) }
    }

    /// Sends any bytes.
    public func send(raw bytes: [UInt8]) async throws {
        try await run { try self.connection.send(bytes) }
    }

    /// Reads the next frame; pings are answered and left out. `nil` when the connection ends.
    public func next() async throws -> Frame? {
        try await run {
            // Pings end no wait of the connection: a test that waits for a missing packet must fail, not hang.
            let deadline = ContinuousClock.now + .seconds(180)
            while true {
                guard let frame = try self.readFrame() else { return nil }
                guard frame.opcode == 9 else { return frame }
                guard ContinuousClock.now < deadline else {
                    throw SocketError(call: "wait for a packet", code: 0)
                }
                try self.connection.send(Self.frame(10, frame.payload))
            }
        }
    }

    /// Whether nothing but pings comes for that many milliseconds.
    public func isSilent(for milliseconds: Int32) async throws -> Bool {
        try await run {
            self.bytes.isEmpty && !self.connection.isReadable(within: milliseconds)
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
            do {
                let more = try connection.receive()
                guard !more.isEmpty else { return nil }
                bytes += more
            } catch let error as SocketError where error.isReset {
                return nil
            }
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
            opcode: bytes[0] & 0x0F, isCompressed: bytes[0] & 0x40 != 0,
            payload: Array(bytes[start..<(start + length)]))
        bytes.removeFirst(start + length)
        return frame
    }

    private func receive() throws {
        let more = try connection.receive()
        guard !more.isEmpty else { throw SocketError(call: "read an answer", code: 0) }
        bytes += more
    }
}
