@testable import HTTP
@testable import WebSockets

/// Frames that a client sends on a WebSocket (H132–H140, H150).
enum Frames {
    private struct Reading: Equatable {
        var events: [FrameDecoder.Event] = []
        var fault: WebSocketFault?
    }

    static func check(_ input: [UInt8]) {
        check(input, FrameLimits())
        // Limits so low that mutations of small seeds reach them.
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
        let splits = Cuts.splits(of: input).map { cuts in read(input, cuts, limits) }
        invariant(
            "every split gives the same result (H3)",
            splits.allSatisfy { split in split == splits[0] })
        for event in splits[0].events {
            switch event {
            case .message(.text(let bytes)):
                invariant("text is UTF-8 (H137)", String(validating: bytes, as: UTF8.self) != nil)
                invariant("a message is within its limit (H138)", bytes.count <= limits.message)
                checkAgain(.text, bytes, event)
            case .message(.binary(let bytes)):
                invariant("a message is within its limit (H138)", bytes.count <= limits.message)
                checkAgain(.binary, bytes, event)
            case .ping(let bytes):
                invariant("a control frame is short (H134)", bytes.count <= 125)
                checkAgain(.ping, bytes, event)
            case .close(let code):
                invariant(
                    "a close has a code that may be sent (H140)",
                    code == .noStatusReceived || code.isSendable)
            case .pong: break
            }
        }
    }

    /// A fragmented message that is sent again in one frame is the same.
    private static func checkAgain(
        _ opcode: Opcode, _ payload: [UInt8], _ event: FrameDecoder.Event
    ) {
        var frame = FrameEncoder.encode(opcode, payload)
        let head = frame.count - payload.count
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        frame[1] |= 0x80
        frame.insert(contentsOf: key, at: head)
        for index in payload.indices { frame[head + 4 + index] ^= key[index % 4] }
        let again = read(frame, [frame.count], FrameLimits())
        invariant("a message sent again is the same", again.events == [event] && again.fault == nil)
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
                invariant("all bytes are used", index == shown.count)
                used = cut
            } catch {
                result.fault = error
                return result
            }
        }
        return result
    }
}
