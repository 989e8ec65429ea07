import SystemSupport
import Testing

@testable import HTTP

@Suite struct `An event stream` {
    private let channel = RecordingChannel()
    private let listener = RecordingStreamHandler()
    private let event = EncodedEvent(data: "x")

    @Test func `has headers that prevent caching and buffering (H151)`() {
        let response = EventStream(listener).response
        #expect(response.status == .ok)
        #expect(response.fields["Content-Type"] == "text/event-stream; charset=utf-8")
        #expect(response.fields["Cache-Control"] == "no-store")
        #expect(response.fields["X-Accel-Buffering"] == "no")
        #expect(response.content.length == nil)
    }

    @Test func `starts at once with the reconnection time (H151, H153)`() {
        opened()
        #expect(channel.text == ":\nretry: 3000\n\n")
        #expect(listener.openedCount == 1)
    }

    @Test func `sends events from any thread, in order (H156)`() throws {
        let stream = EventStream(listener)
        #expect(stream.send(try #require(EncodedEvent(data: "early"))))
        stream.opened(channel)
        #expect(stream.send(try #require(EncodedEvent(data: "later"))))
        channel.turn()
        #expect(channel.text == ":\nretry: 3000\n\ndata: early\n\ndata: later\n\n")
    }

    @Test func `sends a heartbeat every fifteen seconds (H153, H156)`() {
        let stream = opened()
        channel.clear()
        channel.pass(14_999, stream)
        #expect(channel.text == "")
        channel.pass(1, stream)
        #expect(channel.text == ":\n\n")
        channel.pass(60_000, stream)
        #expect(channel.text == String(repeating: ":\n\n", count: 5))
    }

    @Test func `sends the resume position at its start and with each heartbeat (H154)`() throws {
        listener.resumePosition = 7
        let stream = opened()
        #expect(channel.text == ":\nretry: 3000\nid: 7\n\n")
        channel.clear()
        listener.resumePosition = 1007
        channel.pass(15_000, stream)
        #expect(channel.text == ":\nid: 1007\n\n")
    }

    @Test func `sends no position ahead of queued events (H154, H156)`() throws {
        listener.resumePosition = 7
        let stream = opened()
        channel.clear()
        channel.isFull = true
        #expect(stream.send(try #require(EncodedEvent(data: "x", id: "8"))))
        channel.turn()
        channel.isFull = false
        listener.resumePosition = 8
        channel.pass(15_000, stream)
        #expect(channel.text == "")
        stream.drained()
        channel.pass(15_000, stream)
        #expect(channel.text == "id: 8\ndata: x\n\n:\nid: 8\n\n")
    }

    @Test func `reports when it is full, and when it has drained (H156)`() throws {
        let stream = opened()
        let event = try #require(event)
        #expect(!stream.isFull)
        channel.isFull = true
        #expect(stream.isFull)
        #expect(stream.send(event))
        channel.turn()
        channel.isFull = false
        #expect(stream.isFull, "something waits still")
        stream.drained()
        #expect(!stream.isFull)
        #expect(listener.drainedCount == 1)
        #expect(channel.text.hasSuffix("data: x\n\n"))
    }

    @Test func `sends several events as one buffer (H156)`() throws {
        let stream = opened()
        channel.clear()
        let event = try #require(event)
        let both = EncodedEvent.joined([event, event])
        #expect(both.count == 2 * event.count)
        #expect(stream.send(both))
        channel.turn()
        #expect(channel.text == "data: x\n\ndata: x\n\n")
    }

    @Test func `disconnects a client that is too slow, and queues no more than its bound (H156)`()
        throws
    {
        var settings = EventStreamSettings()
        settings.maximumQueueEvents = 3
        let stream = opened(settings)
        channel.isFull = true
        let event = try #require(event)
        #expect((0..<3).allSatisfy { _ in stream.send(event) })
        channel.turn()
        #expect(!channel.isAborted)
        #expect(!stream.send(event))
        channel.turn()
        #expect(channel.isAborted)
        #expect(!stream.send(event))
    }

    @Test func `continues when a slow client has caught up (H156)`() throws {
        let stream = opened()
        channel.isFull = true
        channel.clear()
        stream.send(try #require(event))
        channel.turn()
        #expect(channel.text == "")
        channel.isFull = false
        stream.drained()
        #expect(channel.text == "data: x\n\n")
        stream.send(try #require(event))
        channel.turn()
        #expect(channel.text == "data: x\n\ndata: x\n\n")
    }

    @Test func `counts bytes as well as events (H156)`() throws {
        var settings = EventStreamSettings()
        settings.maximumQueueBytes = 20
        let stream = opened(settings)
        channel.isFull = true
        #expect(stream.send(try #require(event)))
        #expect(stream.send(try #require(event)))
        #expect(!stream.send(try #require(event)))
        channel.turn()
        #expect(channel.isAborted)
    }

    @Test func `shares the bytes of a broadcast (H156)`() throws {
        let event = try #require(event)
        let stream = opened()
        channel.clear()
        stream.send(event)
        channel.turn()
        let sent = try #require(channel.buffers.first)
        #expect(
            sent.withUnsafeBufferPointer { $0.baseAddress }
                == event.bytes.withUnsafeBufferPointer { $0.baseAddress })
    }

    @Test func `ends when its token expires (H158)`() {
        let stream = opened()
        stream.expire(in: 40_000)
        channel.turn()
        channel.pass(39_999, stream)
        #expect(!channel.isFinished)
        channel.pass(1, stream)
        #expect(channel.isFinished)
    }

    @Test func `ends after everything sent, by itself and when the server stops (H194)`() throws {
        let stream = opened()
        channel.isFull = true
        channel.clear()
        stream.send(try #require(event))
        stream.stopping()
        channel.turn()
        #expect(!channel.isFinished)
        channel.isFull = false
        stream.drained()
        #expect(channel.text == "data: x\n\n")
        #expect(channel.isFinished)
        #expect(!stream.send(try #require(event)))
    }

    @Test func `releases its slot and calls its handler at the end (H156, H157)`() throws {
        let limits = StreamLimits(maximum: 9, maximumPerUser: 1)
        let stream = EventStream(listener, slot: try limits.admit("ada"))
        stream.opened(channel)
        #expect(limits.count == 1)
        stream.closed()
        #expect(limits.count == 0)
        #expect(listener.closedCount == 1)
        #expect(!stream.send(try #require(event)))
    }

    @discardableResult
    private func opened(_ settings: EventStreamSettings = EventStreamSettings()) -> EventStream {
        let stream = EventStream(listener, settings: settings)
        stream.opened(channel)
        channel.turn()
        return stream
    }
}

/// A handler that counts its calls.
final class RecordingStreamHandler: EventStreamHandler {
    private let counts = Locked((opened: 0, drained: 0, closed: 0))

    private let position = Locked<Int64?>(nil)

    /// The position that it reports.
    var resumePosition: Int64? {
        get { position.withLock { $0 } }
        set { position.withLock { current in current = newValue } }
    }

    var openedCount: Int { counts.withLock { counts in counts.opened } }
    var drainedCount: Int { counts.withLock { counts in counts.drained } }
    var closedCount: Int { counts.withLock { counts in counts.closed } }

    func opened(_ stream: EventStream) { counts.withLock { counts in counts.opened += 1 } }
    func drained(_ stream: EventStream) { counts.withLock { counts in counts.drained += 1 } }
    func closed(_ stream: EventStream) { counts.withLock { counts in counts.closed += 1 } }
}
