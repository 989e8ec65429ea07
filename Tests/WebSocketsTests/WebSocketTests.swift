import Dispatch
import SystemSupport
import Testing

@testable import HTTP
@testable import WebSockets

@Suite struct `A WebSocket` {
    let channel = RecordingChannel()
    let listener = RecordingSocketHandler()

    var frames: [ServerFrame] { ServerFrame.read(channel.bytes) }

    // MARK: Messages

    @Test func `delivers every message to its handler and sends the echo (H148)`() {
        let listener = RecordingSocketHandler(echoes: true)
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
        channel.turn()
        let texts = frames.map { frame in String(decoding: frame.payload, as: UTF8.self) }
        #expect(texts.count == 200)
        for thread in 0..<4 {
            let own = texts.filter { text in text.hasPrefix("\(thread) ") }
            #expect(own == (0..<50).map { number in "\(thread) \(number)" })
        }
    }

    @Test func `shares the bytes of a broadcast (H144)`() throws {
        let socket = opened()
        let message = EncodedMessage(.text(Array("all".utf8)))
        socket.send(message)
        channel.turn()
        let sent = try #require(channel.buffers.first)
        #expect(
            sent.withUnsafeBufferPointer { $0.baseAddress }
                == message.frame.withUnsafeBufferPointer { $0.baseAddress })
    }

    @Test func `sends messages that were queued before it opened`() {
        let socket = socket()
        #expect(socket.send(text: "early"))
        socket.opened(channel)
        channel.turn()
        #expect(frames == [.text("early")])
    }

    // MARK: Slow readers

    @Test(arguments: [CloseCode.policyViolation, .tryAgainLater])
    func `closes when the client is too slow, and drops its queue (H144)`(code: CloseCode) {
        var settings = WebSocketSettings()
        settings.slowConsumerCode = code
        let socket = opened(settings)
        channel.isFull = true
        #expect((0..<1000).allSatisfy { _ in socket.send(text: "x") })
        #expect(!socket.send(text: "x"))
        #expect(!socket.send(text: "x"))
        channel.turn()
        #expect(frames.map(\.closeCode) == [code.number])
        channel.pass(5_000, socket)
        #expect(channel.isAborted)
    }

    @Test func `limits the queued bytes (H144)`() {
        let socket = opened()
        channel.isFull = true
        #expect(socket.send(binary: [UInt8](repeating: 0, count: 1 << 20 - 100)))
        #expect(!socket.send(binary: [UInt8](repeating: 0, count: 200)))
        channel.turn()
        #expect(frames.map(\.closeCode) == [1008])
    }

    @Test func `can echo the largest message (H138, H144)`() {
        let listener = RecordingSocketHandler(echoes: true)
        let socket = opened(listener: listener)
        let largest = [UInt8](repeating: 7, count: 1 << 20)
        receive([.binary(largest)], socket)
        #expect(frames == [ServerFrame(opcode: .binary, payload: largest)])
    }

    @Test func `continues when a slow client has caught up (H144)`() {
        let socket = opened()
        channel.isFull = true
        for number in 0..<900 { socket.send(text: "\(number)") }
        channel.turn()
        #expect(frames.isEmpty)
        channel.isFull = false
        socket.drained()
        for number in 900..<1800 { socket.send(text: "\(number)") }
        channel.turn()
        #expect(frames == (0..<1800).map { number in .text("\(number)") })
    }

    // MARK: Pings

    @Test func `answers pings in order, and only the latest while the channel is full (H139)`() {
        let socket = opened()
        receive([.ping([1]), .ping([2]), ClientFrame(opcode: 10, payload: [9])], socket)
        #expect(frames == [.pong([1]), .pong([2])])
        channel.isFull = true
        channel.clear()
        receive([.ping([3]), .ping([4])], socket)
        #expect(frames.isEmpty)
        channel.isFull = false
        socket.drained()
        #expect(frames == [.pong([4])])
    }

    @Test func `pings every thirty seconds and closes after seventy-five without a frame (H143)`() {
        let socket = opened()
        channel.pass(29_999, socket)
        #expect(frames.isEmpty)
        channel.pass(1, socket)
        #expect(frames == [.ping()])
        channel.pass(44_999, socket)
        #expect(frames == [.ping(), .ping()])
        channel.pass(1, socket)
        #expect(frames.last?.closeCode == 1001)
        channel.pass(5_000, socket)
        #expect(channel.isFinished)
        socket.closed()
        #expect(listener.closings == [.goingAway])
    }

    @Test func `stays open while frames arrive (H143)`() {
        let socket = opened()
        for _ in 0..<10 {
            channel.pass(60_000, socket)
            receive([ClientFrame(opcode: 10)], socket)
        }
        #expect(frames == (0..<20).map { _ in .ping() })
    }

    // MARK: Too many messages

    @Test func `accepts a burst, then stops reading for a second (H145)`() {
        let socket = opened()
        receive((0..<300).map { number in .text("\(number)") }, socket)
        #expect(listener.messages.count == 200)
        #expect(!channel.isReading)
        channel.pass(1_000, socket)
        #expect(listener.messages.count == 250)
        #expect(!channel.isReading)
        channel.pass(1_000, socket)
        #expect(listener.messages.count == 300)
        channel.pass(1_000, socket)
        #expect(channel.isReading)
        #expect(
            listener.messages == (0..<300).map { number in .text(Array("\(number)".utf8)) })
        #expect(frames.isEmpty)
    }

    @Test func `closes with 1008 when throttling does not help (H145)`() {
        let socket = opened()
        receive((0..<1000).map { _ in .ping() }, socket)
        for _ in 0..<20 {
            channel.pass(1_000, socket)
            if channel.isReading, !channel.isFinished {
                receive((0..<60).map { _ in .ping() }, socket)
            }
        }
        #expect(frames.last?.closeCode == 1008)
        #expect(frames.count { frame in frame.opcode == .pong } == 200 + 10 * 50)
        #expect(channel.isFinished)
    }

    @Test func `resets throttling after a pause (H145)`() {
        let socket = opened()
        for _ in 0..<30 {
            receive((0..<201).map { _ in .ping() }, socket)
            channel.pass(6_000, socket)
        }
        #expect(channel.isReading)
        #expect(!channel.isFinished)
    }

    // MARK: Compression

    @Test func `compresses large messages, each without context (H150)`() throws {
        let socket = opened(deflation: WebSocketCompression(minimum: 100))
        let long = String(repeating: "abc", count: 400)
        socket.send(text: long)
        socket.send(text: long)
        socket.send(text: "short")
        channel.turn()
        #expect(frames.map(\.isCompressed) == [true, true, false])
        #expect(frames[0] == frames[1])
        #expect(frames[0].payload.count < 50)
        let reply = ClientFrame(opcode: 1, payload: frames[0].payload, reserved: 0x40)
        receive([reply], socket)
        #expect(listener.messages == [.text(Array(long.utf8))])
    }

    func socket(
        _ settings: WebSocketSettings = WebSocketSettings(),
        listener: RecordingSocketHandler? = nil,
        deflation: WebSocketCompression? = nil
    ) -> WebSocket {
        WebSocket(
            listener ?? self.listener, WebSocketEndpoint(settings), deflation: deflation, slot: nil)
    }

    func opened(
        _ settings: WebSocketSettings = WebSocketSettings(),
        listener: RecordingSocketHandler? = nil,
        deflation: WebSocketCompression? = nil
    ) -> WebSocket {
        let socket = socket(settings, listener: listener, deflation: deflation)
        socket.opened(channel)
        return socket
    }

    func receive(_ frames: [ClientFrame], _ socket: WebSocket) {
        receive(frames.bytes, socket)
    }

    func receive(_ bytes: [UInt8], _ socket: WebSocket) {
        socket.received(bytes.span)
        channel.turn()
    }
}

// How sockets close.
extension `A WebSocket` {
    @Test(arguments: [nil, 1000, 1001, 3000, 4999] as [UInt16?])
    func `answers a close once, with its code, and ignores everything after it (H141)`(
        code: UInt16?
    ) {
        let socket = opened()
        let closeFrame: ClientFrame =
            code.map { code in ClientFrame.close(code, "bye") } ?? ClientFrame.close()
        receive([closeFrame, .text("late"), .close()], socket)
        #expect(frames.count == 1)
        #expect(frames.first?.opcode == .close)
        #expect(frames.first?.closeCode == code)
        #expect(frames.first?.payload.count == (code == nil ? 0 : 2))
        #expect(channel.isFinished)
        #expect(!socket.send(text: "x"))
        socket.closed()
        #expect(listener.messages.isEmpty)
        #expect(listener.closings == [code.map { CloseCode($0) } ?? CloseCode.noStatusReceived])
    }

    @Test func `closes after everything sent and waits for the answer (H141)`() {
        let socket = opened()
        socket.send(text: "last")
        socket.close(.normal, "done")
        channel.turn()
        #expect(frames.map(\.opcode) == [.text, .close])
        #expect(!socket.send(text: "more"))
        receive([.text("late"), .ping()], socket)
        #expect(!channel.isFinished)
        receive([.close(1000)], socket)
        #expect(channel.isFinished)
        #expect(frames.count == 2)
        socket.closed()
        #expect(listener.closings == [.normal])
        #expect(listener.messages.isEmpty)
    }

    @Test func `waits at most five seconds for the answer (H141)`() {
        let socket = opened()
        socket.close()
        channel.turn()
        channel.pass(4_999, socket)
        #expect(!channel.isFinished)
        channel.pass(1, socket)
        #expect(channel.isFinished)
    }

    @Test(arguments: FrameCase.refused)
    func `reports a fault once and closes in order (H142)`(case example: FrameCase) throws {
        var settings = WebSocketSettings()
        settings.maximumMessage = example.limits.message
        settings.maximumFrame = example.limits.frame
        settings.maximumFragments = example.limits.fragments
        settings.isTextOnly = example.limits.isTextOnly
        let socket = opened(settings)
        receive(
            example.bytes + ClientFrame.text("late").bytes + ClientFrame.close().bytes, socket)
        #expect(frames.last?.closeCode == example.code?.number)
        #expect(frames.count { frame in frame.opcode == .close } == 1)
        #expect(channel.isFinished)
        socket.closed()
        #expect(listener.closings == [try #require(example.code)])
    }

    @Test func `reports a channel that was aborted (H143)`() {
        let socket = opened()
        socket.closed()
        #expect(listener.closings == [.abnormal])
        #expect(!socket.send(text: "x"))
        socket.close()
        channel.turn()
        #expect(frames.isEmpty)
    }

    @Test func `closes with 4401 when its session expires (H146)`() {
        let socket = opened()
        socket.expire(in: 10_000)
        socket.expire(in: 20_000)
        channel.turn()
        channel.pass(19_999, socket)
        #expect(frames.isEmpty)
        channel.pass(1, socket)
        #expect(frames.map(\.closeCode) == [4401])
    }

    @Test func `closes with 1001 within the spread when the server stops (H147, H194)`() {
        let endpoint = WebSocketEndpoint()
        let lines = (0..<200).map { _ in RecordingChannel() }
        let sockets = lines.map { channel in
            let socket = WebSocket(listener, endpoint, deflation: nil, slot: nil)
            socket.opened(channel)
            socket.stopping()
            return socket
        }
        let early = lines.count { channel in !channel.bytes.isEmpty }
        for (channel, socket) in zip(lines, sockets) { channel.pass(2_500, socket) }
        let half = lines.count { channel in !channel.bytes.isEmpty }
        for (channel, socket) in zip(lines, sockets) { channel.pass(2_500, socket) }
        #expect(early < 50)
        #expect((50...150).contains(half))
        #expect(
            lines.allSatisfy { channel in ServerFrame.read(channel.bytes).map(\.closeCode) == [1001]
            })
    }

    @Test func `releases its slot at the end (H157)`() throws {
        let limits = StreamLimits(maximum: 1)
        let slot = try limits.admit("ada")
        let socket = WebSocket(listener, WebSocketEndpoint(), deflation: nil, slot: slot)
        socket.opened(channel)
        socket.closed()
        #expect(limits.count == 0)
    }
}

/// A handler that records its calls and optionally echoes messages.
final class RecordingSocketHandler: WebSocketHandler {
    struct State {
        var socket: WebSocket?
        var messages: [WebSocketMessage] = []
        var closings: [CloseCode] = []
    }

    private let state = Locked(State())
    private let echoes: Bool

    init(echoes: Bool = false) { self.echoes = echoes }

    var socket: WebSocket? { state.withLock { state in state.socket } }
    var messages: [WebSocketMessage] { state.withLock { state in state.messages } }
    var closings: [CloseCode] { state.withLock { state in state.closings } }

    func opened(_ socket: WebSocket) { state.withLock { state in state.socket = socket } }
    func received(_ message: WebSocketMessage, on socket: WebSocket) {
        state.withLock { state in state.messages.append(message) }
        if echoes { socket.send(message) }
    }
    func closed(_ socket: WebSocket, _ code: CloseCode) {
        state.withLock { state in
            state.closings.append(code)
            state.socket = nil
        }
    }
}
