/// An application's end of an event stream; every call comes on the stream's loop and must not block.
public protocol EventStreamHandler: AnyObject, Sendable {
    /// The head and a first comment are under way; events may be sent, from any thread.
    func opened(_ stream: EventStream)

    /// After ``EventStream/isFull``: there is room again.
    func drained(_ stream: EventStream)

    /// The stream is over, whoever ended it; the last call.
    func closed(_ stream: EventStream)
}

extension EventStreamHandler {
    /// Nobody waits for room.
    public func drained(_ stream: EventStream) {}
}
