import SystemSupport
import Testing

@testable import HTTP

@Suite struct `An event stream` {
    private let line = RecordingChannel()
    private let listener = RecordingStreamHandler()
    private let event = EncodedEvent(data: "x")

    @Test func `says what it is and that nobody may hold it back (H151)`() {
        let response = EventStream(listener).response
        #expect(response.status == .ok)
        #expect(response.fields["Content-Type"] == "text/event-stream; charset=utf-8")
        #expect(response.fields["Cache-Control"] == "no-store")
        #expect(response.fields["X-Accel-Buffering"] == "no")
        #expect(response.content.length == nil)
    }

    @Test func `greets at once, with the time to wait before coming back (H151, H153)`() {
        opened()
        #expect(line.text == ":\nretry: 3000\n\n")
        #expect(listener.openedCount == 1)
    }

    @Test func `sends events from anywhere, in order (H156)`() throws {
        let stream = EventStream(listener)
        #expect(stream.send(try #require(EncodedEvent(data: "early"))))
        stream.opened(line)
        #expect(stream.send(try #require(EncodedEvent(data: "later"))))
        line.turn()
        #expect(line.text == ":\nretry: 3000\n\ndata: early\n\ndata: later\n\n")
    }

    @Test func `shows each fifteen seconds that it lives (H153, H156)`() {
        let stream = opened()
        line.clear()
        line.pass(14_999, stream)
        #expect(line.text == "")
        line.pass(1, stream)
        #expect(line.text == ":\n\n")
        line.pass(60_000, stream)
        #expect(line.text == String(repeating: ":\n\n", count: 5))
    }

    @Test func `says with its greeting and each beat where a client goes on (H154)`() throws {
        listener.resumePosition = 7
        let stream = opened()
        #expect(line.text == ":\nretry: 3000\nid: 7\n\n")
        line.clear()
        listener.resumePosition = 1007
        line.pass(15_000, stream)
        #expect(line.text == ":\nid: 1007\n\n")
    }

    @Test func `says no place in front of what waits (H154, H156)`() throws {
        listener.resumePosition = 7
        let stream = opened()
        line.clear()
        line.isFull = true
        #expect(stream.send(try #require(EncodedEvent(data: "x", id: "8"))))
        line.turn()
        line.isFull = false
        listener.resumePosition = 8
        line.pass(15_000, stream)
        #expect(line.text == "")
        stream.drained()
        line.pass(15_000, stream)
        #expect(line.text == "id: 8\ndata: x\n\n:\nid: 8\n\n")
    }

    @Test func `says when it is full, and when there is room again (H156)`() throws {
        let stream = opened()
        let event = try #require(event)
        #expect(!stream.isFull)
        line.isFull = true
        #expect(stream.isFull)
        #expect(stream.send(event))
        line.turn()
        line.isFull = false
        #expect(stream.isFull, "something waits still")
        stream.drained()
        #expect(!stream.isFull)
        #expect(listener.drainedCount == 1)
        #expect(line.text.hasSuffix("data: x\n\n"))
    }

    @Test func `sends several events as one piece (H156)`() throws {
        let stream = opened()
        line.clear()
        let event = try #require(event)
        let both = EncodedEvent.joined([event, event])
        #expect(both.count == 2 * event.count)
        #expect(stream.send(both))
        line.turn()
        #expect(line.text == "data: x\n\ndata: x\n\n")
    }

    @Test func `cuts off a client that is too slow, and keeps no more than its bound (H156)`()
        throws
    {
        var settings = EventStreamSettings()
        settings.maximumQueueEvents = 3
        let stream = opened(settings)
        line.isFull = true
        let event = try #require(event)
        #expect((0..<3).allSatisfy { _ in stream.send(event) })
        line.turn()
        #expect(!line.isAborted)
        #expect(!stream.send(event))
        line.turn()
        #expect(line.isAborted)
        #expect(!stream.send(event))
    }

    @Test func `goes on when a slow client has caught up (H156)`() throws {
        let stream = opened()
        line.isFull = true
        line.clear()
        stream.send(try #require(event))
        line.turn()
        #expect(line.text == "")
        line.isFull = false
        stream.drained()
        #expect(line.text == "data: x\n\n")
        stream.send(try #require(event))
        line.turn()
        #expect(line.text == "data: x\n\ndata: x\n\n")
    }

    @Test func `counts bytes as well as events (H156)`() throws {
        var settings = EventStreamSettings()
        settings.maximumQueueBytes = 20
        let stream = opened(settings)
        line.isFull = true
        #expect(stream.send(try #require(event)))
        #expect(stream.send(try #require(event)))
        #expect(!stream.send(try #require(event)))
        line.turn()
        #expect(line.isAborted)
    }

    @Test func `shares the bytes of a broadcast (H156)`() throws {
        let event = try #require(event)
        let stream = opened()
        line.clear()
        stream.send(event)
        line.turn()
        let sent = try #require(line.buffers.first)
        #expect(
            sent.withUnsafeBufferPointer { $0.baseAddress }
                == event.bytes.withUnsafeBufferPointer { $0.baseAddress })
    }

    @Test func `ends when its token expires (H158)`() {
        let stream = opened()
        stream.expire(in: 40_000)
        line.turn()
        line.pass(39_999, stream)
        #expect(!line.isFinished)
        line.pass(1, stream)
        #expect(line.isFinished)
    }

    @Test func `ends behind what was sent, by itself and when the server stops (H194)`() throws {
        let stream = opened()
        line.isFull = true
        line.clear()
        stream.send(try #require(event))
        stream.stopping()
        line.turn()
        #expect(!line.isFinished)
        line.isFull = false
        stream.drained()
        #expect(line.text == "data: x\n\n")
        #expect(line.isFinished)
        #expect(!stream.send(try #require(event)))
    }

    @Test func `frees its place and tells its application at the end (H156, H157)`() throws {
        let limits = StreamLimits(maximum: 9, maximumPerUser: 1)
        let stream = EventStream(listener, slot: try limits.admit("ada"))
        stream.opened(line)
        #expect(limits.count == 1)
        stream.closed()
        #expect(limits.count == 0)
        #expect(listener.closedCount == 1)
        #expect(!stream.send(try #require(event)))
    }

    @discardableResult
    private func opened(_ settings: EventStreamSettings = EventStreamSettings()) -> EventStream {
        let stream = EventStream(listener, settings: settings)
        stream.opened(line)
        line.turn()
        return stream
    }
}

/// An application that counts what it is told.
final class RecordingStreamHandler: EventStreamHandler {
    private let counts = Locked((opened: 0, drained: 0, closed: 0))

    private let placeSaid = Locked<Int64?>(nil)

    /// Where it says that its client is.
    var resumePosition: Int64? {
        get { placeSaid.withLock { $0 } }
        set { placeSaid.withLock { place in place = newValue } }
    }

    var openedCount: Int { counts.withLock { counts in counts.opened } }
    var drainedCount: Int { counts.withLock { counts in counts.drained } }
    var closedCount: Int { counts.withLock { counts in counts.closed } }

    func opened(_ stream: EventStream) { counts.withLock { counts in counts.opened += 1 } }
    func drained(_ stream: EventStream) { counts.withLock { counts in counts.drained += 1 } }
    func closed(_ stream: EventStream) { counts.withLock { counts in counts.closed += 1 } }
}
