import Testing

@testable import HTTP

// How sockets end.
extension `A WebSocket` {
    @Test(arguments: [nil, 1000, 1001, 3000, 4999] as [UInt16?])
    func `answers a close once, with its code, and hears nothing after it (H141)`(code: UInt16?) {
        let socket = opened()
        let goodbye: ClientFrame =
            code.map { code in ClientFrame.close(code, "bye") } ?? ClientFrame.close()
        receive([goodbye, .text("late"), .close()], socket)
        #expect(frames.count == 1)
        #expect(frames.first?.opcode == .close)
        #expect(frames.first?.closeCode == code)
        #expect(frames.first?.payload.count == (code == nil ? 0 : 2))
        #expect(line.isFinished)
        #expect(!socket.send(text: "x"))
        socket.closed()
        #expect(listener.messages.isEmpty)
        #expect(listener.closings == [code.map { CloseCode($0) } ?? CloseCode.unstated])
    }

    @Test func `says goodbye behind what was sent and waits for the answer (H141)`() {
        let socket = opened()
        socket.send(text: "last")
        socket.close(.normal, "done")
        line.turn()
        #expect(frames.map(\.opcode) == [.text, .close])
        #expect(!socket.send(text: "more"))
        receive([.text("late"), .ping()], socket)
        #expect(!line.isFinished)
        receive([.close(1000)], socket)
        #expect(line.isFinished)
        #expect(frames.count == 2)
        socket.closed()
        #expect(listener.closings == [.normal])
        #expect(listener.messages.isEmpty)
    }

    @Test func `waits five seconds for the answer, and no longer (H141)`() {
        let socket = opened()
        socket.close()
        line.turn()
        line.pass(4_999, socket)
        #expect(!line.isFinished)
        line.pass(1, socket)
        #expect(line.isFinished)
    }

    @Test(arguments: FrameCase.refused)
    func `says what was wrong once and ends in good order (H142)`(case example: FrameCase) throws {
        var settings = WebSocketSettings()
        settings.maximumMessage = example.limits.message
        settings.maximumFrame = example.limits.frame
        settings.maximumFragments = example.limits.fragments
        settings.isTextOnly = example.limits.isTextOnly
        let socket = opened(settings)
        receive(
            example.octets + ClientFrame.text("late").octets + ClientFrame.close().octets, socket)
        #expect(frames.last?.closeCode == example.code?.number)
        #expect(frames.count { frame in frame.opcode == .close } == 1)
        #expect(line.isFinished)
        socket.closed()
        #expect(listener.closings == [try #require(example.code)])
    }

    @Test func `tells of a line that broke (H143)`() {
        let socket = opened()
        socket.closed()
        #expect(listener.closings == [.abnormal])
        #expect(!socket.send(text: "x"))
        socket.close()
        line.turn()
        #expect(frames.isEmpty)
    }

    @Test func `closes with 4001 when its session expires (H146)`() {
        let socket = opened()
        socket.expire(in: 10_000)
        socket.expire(in: 20_000)
        line.turn()
        line.pass(19_999, socket)
        #expect(frames.isEmpty)
        line.pass(1, socket)
        #expect(frames.map(\.closeCode) == [4001])
    }

    @Test func `closes with 1001 within the spread when the server stops (H147, H194)`() {
        let endpoint = WebSocketEndpoint()
        let lines = (0..<200).map { _ in RecordingLine() }
        let sockets = lines.map { line in
            let socket = WebSocket(listener, endpoint, deflation: nil, seat: nil)
            socket.opened(line)
            socket.stopping()
            return socket
        }
        let early = lines.count { line in !line.octets.isEmpty }
        for (line, socket) in zip(lines, sockets) { line.pass(2_500, socket) }
        let half = lines.count { line in !line.octets.isEmpty }
        for (line, socket) in zip(lines, sockets) { line.pass(2_500, socket) }
        #expect(early < 50)
        #expect((50...150).contains(half))
        #expect(
            lines.allSatisfy { line in ServerFrame.read(line.octets).map(\.closeCode) == [1001] })
    }

    @Test func `gives its place back at the end (H157)`() throws {
        let limits = StreamLimits(maximum: 1)
        let seat = try limits.admit("ada")
        let socket = WebSocket(listener, WebSocketEndpoint(), deflation: nil, seat: seat)
        socket.opened(line)
        socket.closed()
        #expect(limits.count == 0)
    }
}
