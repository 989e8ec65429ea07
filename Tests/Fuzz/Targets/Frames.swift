@testable import HTTP
@testable import WebSockets

/// What a client sends on a WebSocket (H132–H140, H150).
enum Frames {
    private struct Reading: Equatable {
        var events: [FrameDecoder.Event] = []
        var fault: WebSocketFault?
    }

    static func check(_ input: [UInt8]) {
        check(input, FrameLimits())
        // Limits so narrow that mutations of small seeds reach them.
        var narrow = FrameLimits()
        narrow.message = 20
        narrow.frame = 16
        narrow.fragments = 3
        narrow.isTextOnly = true
        check(input, narrow)
        narrow.isTextOnly = false
        narrow.inflates = true
        check(input, narrow)
        var inflating = FrameLimits()
        inflating.inflates = true
        check(input, inflating)
        var packed = FrameLimits()
        packed.message = 4096
        packed.inflates = true
        check(input, packed)
    }

    private static func check(_ input: [UInt8], _ limits: FrameLimits) {
        let ways = Cuts.ways(of: input).map { cuts in read(input, cuts, limits) }
        law("every split says the same (H3)", ways.allSatisfy { way in way == ways[0] })
        for event in ways[0].events {
            switch event {
            case .message(.text(let bytes)):
                law("text is UTF-8 (H137)", String(validating: bytes, as: UTF8.self) != nil)
                law("a message obeys its limit (H138)", bytes.count <= limits.message)
                checkAgain(.text, bytes, event)
            case .message(.binary(let bytes)):
                law("a message obeys its limit (H138)", bytes.count <= limits.message)
                checkAgain(.binary, bytes, event)
            case .ping(let bytes):
                law("a control frame is short (H134)", bytes.count <= 125)
                checkAgain(.ping, bytes, event)
            case .close(let code):
                law(
                    "a close has a code that may be said (H140)",
                    code == .noStatusReceived || code.isSendable)
            case .pong: break
            }
        }
    }

    /// What came in fragments, sent once more in one frame, is the same.
    private static func checkAgain(
        _ opcode: Opcode, _ payload: [UInt8], _ event: FrameDecoder.Event
    ) {
        var frame = FrameEncoder.encode(opcode, payload)
        let head = frame.count - payload.count
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        frame[1] |= 0x80
        frame.insert(contentsOf: key, at: head)
        for place in payload.indices { frame[head + 4 + place] ^= key[place % 4] }
        let again = read(frame, [frame.count], FrameLimits())
        law("a message sent again is the same", again.events == [event] && again.fault == nil)
    }

    private static func read(_ input: [UInt8], _ cuts: [Int], _ limits: FrameLimits) -> Reading {
        var decoder = FrameDecoder(limits)
        var result = Reading()
        var used = 0
        for cut in cuts {
            do throws(WebSocketFault) {
                let shown = input[used..<cut]
                var index = 0
                while let event = try decoder.next(shown.span, at: &index) {
                    result.events.append(event)
                    if case .close = event { return result }
                }
                law("what is shown is used", index == shown.count)
                used = cut
            } catch {
                result.fault = error
                return result
            }
        }
        return result
    }
}
