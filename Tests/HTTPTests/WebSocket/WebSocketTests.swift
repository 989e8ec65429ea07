import Dispatch
import Testing

@testable import HTTP

@Suite struct `A WebSocket` {
    let line = RecordingLine()
    let listener = SocketListener()

    var frames: [ServerFrame] { ServerFrame.read(line.octets) }

    // MARK: Messages

    @Test func `tells its application every message and echoes what that sends (H148)`() {
        let listener = SocketListener(echoes: true)
        let socket = opened(listener: listener)
        receive([.text("a", isFinal: false), .ping([7]), .more([0x62], isFinal: true)], socket)
        receive([.binary([1, 2])], socket)
        #expect(listener.messages == [.text([0x61, 0x62]), .binary([1, 2])])
        #expect(
            frames == [.pong([7]), .text("ab"), ServerFrame(opcode: .binary, payload: [1, 2])])
    }

    @Test func `sends from any thread, each message whole and in its sender's order (H144, H148)`()
    {
        let socket = opened()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<50 { socket.send(text: "\(thread) \(number)") }
        }
        line.turn()
        let texts = frames.map { frame in String(decoding: frame.payload, as: UTF8.self) }
        #expect(texts.count == 200)
        for thread in 0..<4 {
            let own = texts.filter { text in text.hasPrefix("\(thread) ") }
            #expect(own == (0..<50).map { number in "\(thread) \(number)" })
        }
    }

    @Test func `shares the octets of a broadcast (H144)`() throws {
        let socket = opened()
        let message = EncodedMessage(.text(Array("all".utf8)))
        socket.send(message)
        line.turn()
        let sent = try #require(line.buffers.first)
        #expect(
            sent.withUnsafeBufferPointer { $0.baseAddress }
                == message.frame.withUnsafeBufferPointer { $0.baseAddress })
    }

    @Test func `sends what was sent before it was open`() {
        let socket = socket()
        #expect(socket.send(text: "early"))
        socket.opened(line)
        line.turn()
        #expect(frames == [.text("early")])
    }

    // MARK: Slow readers

    @Test(arguments: [CloseCode.policyViolation, .tryAgainLater])
    func `closes on a reader too slow for its queue, and drops what waited (H144)`(code: CloseCode)
    {
        var settings = WebSocketSettings()
        settings.slowConsumerCode = code
        let socket = opened(settings)
        line.isFull = true
        #expect((0..<1000).allSatisfy { _ in socket.send(text: "x") })
        #expect(!socket.send(text: "x"))
        #expect(!socket.send(text: "x"))
        line.turn()
        #expect(frames.map(\.closeCode) == [code.number])
        line.pass(5_000, socket)
        #expect(line.isAborted)
    }

    @Test func `counts the octets that wait (H144)`() {
        let socket = opened()
        line.isFull = true
        #expect(socket.send(binary: [UInt8](repeating: 0, count: 1 << 20 - 100)))
        #expect(!socket.send(binary: [UInt8](repeating: 0, count: 200)))
        line.turn()
        #expect(frames.map(\.closeCode) == [1008])
    }

    @Test func `sends back the largest message that may come (H138, H144)`() {
        let listener = SocketListener(echoes: true)
        let socket = opened(listener: listener)
        let largest = [UInt8](repeating: 7, count: 1 << 20)
        receive([.binary(largest)], socket)
        #expect(frames == [ServerFrame(opcode: .binary, payload: largest)])
    }

    @Test func `goes on when a slow reader has caught up (H144)`() {
        let socket = opened()
        line.isFull = true
        for number in 0..<900 { socket.send(text: "\(number)") }
        line.turn()
        #expect(frames.isEmpty)
        line.isFull = false
        socket.drained()
        for number in 900..<1800 { socket.send(text: "\(number)") }
        line.turn()
        #expect(frames == (0..<1800).map { number in .text("\(number)") })
    }

    // MARK: Pings

    @Test func `answers pings in order, and only the newest while the line is full (H139)`() {
        let socket = opened()
        receive([.ping([1]), .ping([2]), ClientFrame(opcode: 10, payload: [9])], socket)
        #expect(frames == [.pong([1]), .pong([2])])
        line.isFull = true
        line.clear()
        receive([.ping([3]), .ping([4])], socket)
        #expect(frames.isEmpty)
        line.isFull = false
        socket.drained()
        #expect(frames == [.pong([4])])
    }

    @Test func `pings each thirty seconds and closes after seventy-five without a frame (H143)`() {
        let socket = opened()
        line.pass(29_999, socket)
        #expect(frames.isEmpty)
        line.pass(1, socket)
        #expect(frames == [.ping()])
        line.pass(44_999, socket)
        #expect(frames == [.ping(), .ping()])
        line.pass(1, socket)
        #expect(frames.last?.closeCode == 1001)
        line.pass(5_000, socket)
        #expect(line.isFinished)
        socket.closed()
        #expect(listener.closings == [.goingAway])
    }

    @Test func `lives on as long as frames come (H143)`() {
        let socket = opened()
        for _ in 0..<10 {
            line.pass(60_000, socket)
            receive([ClientFrame(opcode: 10)], socket)
        }
        #expect(frames == (0..<20).map { _ in .ping() })
    }

    // MARK: Too many messages

    @Test func `lets a burst through, then reads no more for a second (H145)`() {
        let socket = opened()
        receive((0..<300).map { number in .text("\(number)") }, socket)
        #expect(listener.messages.count == 200)
        #expect(!line.isReading)
        line.pass(1_000, socket)
        #expect(listener.messages.count == 250)
        #expect(!line.isReading)
        line.pass(1_000, socket)
        #expect(listener.messages.count == 300)
        line.pass(1_000, socket)
        #expect(line.isReading)
        #expect(
            listener.messages == (0..<300).map { number in .text(Array("\(number)".utf8)) })
        #expect(frames.isEmpty)
    }

    @Test func `closes with 1008 when slowing down does not help (H145)`() {
        let socket = opened()
        receive((0..<1000).map { _ in .ping() }, socket)
        for _ in 0..<20 {
            line.pass(1_000, socket)
            if line.isReading, !line.isFinished { receive((0..<60).map { _ in .ping() }, socket) }
        }
        #expect(frames.last?.closeCode == 1008)
        #expect(frames.count { frame in frame.opcode == .pong } == 200 + 10 * 50)
        #expect(line.isFinished)
    }

    @Test func `forgives after a rest (H145)`() {
        let socket = opened()
        for _ in 0..<30 {
            receive((0..<201).map { _ in .ping() }, socket)
            line.pass(6_000, socket)
        }
        #expect(line.isReading)
        #expect(!line.isFinished)
    }

    // MARK: Compression

    @Test func `compresses what is worth it, each message by itself (H150)`() throws {
        let socket = opened(deflation: WebSocketCompression(minimum: 100))
        let long = String(repeating: "abc", count: 400)
        socket.send(text: long)
        socket.send(text: long)
        socket.send(text: "short")
        line.turn()
        #expect(frames.map(\.isCompressed) == [true, true, false])
        #expect(frames[0] == frames[1])
        #expect(frames[0].payload.count < 50)
        let reply = ClientFrame(opcode: 1, payload: frames[0].payload, reserved: 0x40)
        receive([reply], socket)
        #expect(listener.messages == [.text(Array(long.utf8))])
    }

    func socket(
        _ settings: WebSocketSettings = WebSocketSettings(), listener: SocketListener? = nil,
        deflation: WebSocketCompression? = nil
    ) -> WebSocket {
        WebSocket(
            listener ?? self.listener, WebSocketEndpoint(settings), deflation: deflation, seat: nil)
    }

    func opened(
        _ settings: WebSocketSettings = WebSocketSettings(), listener: SocketListener? = nil,
        deflation: WebSocketCompression? = nil
    ) -> WebSocket {
        let socket = socket(settings, listener: listener, deflation: deflation)
        socket.opened(line)
        return socket
    }

    func receive(_ frames: [ClientFrame], _ socket: WebSocket) {
        receive(frames.octets, socket)
    }

    func receive(_ octets: [UInt8], _ socket: WebSocket) {
        socket.received(octets.span)
        line.turn()
    }
}
