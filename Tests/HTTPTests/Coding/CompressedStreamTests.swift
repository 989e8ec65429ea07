import SystemSupport
import Testing

@testable import HTTP

@Suite struct `A compressed stream` {
    @Test(arguments: ContentCoding.allCases)
    func `can be decoded up to every piece, and to its end (H114, H116)`(
        coding: ContentCoding
    ) async throws {
        let channel = TestChannel()
        let script = Script(["first ", "", "second ", "third"])
        CompressedStream(script, coding).opened(channel)
        let pieces = channel.sent.withLock { $0 }
        #expect(pieces.count == 4, "three events and the end")
        let body = ScriptedBody(pieces.flatMap { $0 }, cuts: pieces.map(\.count))
            .decoded(coding, InflationLimits(size: 1000))
        var buffer = BodyBuffer(capacity: 1000)
        for text in ["first ", "second ", "third", ""] {
            try await body.read(into: &buffer)
            #expect(Array(buffer.bytes) == Array(text.utf8))
        }
        #expect(channel.isFinished.withLock { $0 } == 1)
    }

    /// Sends its texts and finishes twice.
    private final class Script: ByteChannelHandler {
        let texts: [String]

        init(_ texts: [String]) { self.texts = texts }

        func opened(_ channel: any ByteChannel) {
            for text in texts { channel.send(Array(text.utf8)) }
            channel.finish()
            channel.finish()
            channel.send([1])
        }
        func stopping() {}
        func closed() {}
    }

    /// Records what is sent.
    private final class TestChannel: ByteChannel {
        let sent = Locked<[[UInt8]]>([])
        let isFinished = Locked(0)

        var milliseconds: Int64 { 0 }
        var queuedCount: Int64 { 0 }
        var isFull: Bool { false }
        var isReading: Bool {
            get { true }
            set {}
        }

        func send(_ bytes: [UInt8]) { sent.withLock { sent in sent.append(bytes) } }
        func setDeadline(_ time: Int64) {}
        func finish() { isFinished.withLock { count in count += 1 } }
        func abort() {}
        func perform(_ work: @escaping @Sendable () -> Void) { work() }
    }
}
