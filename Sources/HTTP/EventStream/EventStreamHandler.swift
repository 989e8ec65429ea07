/// An application's end of an event stream; every call comes on the stream's loop and must not block.
public protocol EventStreamHandler: AnyObject, Sendable {
    /// The id behind which a client goes on that has all that was sent so far, should it have been sent
    /// none for long or none at all; `nil` where ids are no numbers, or nobody goes on.
    var place: Int64? { get }

    /// The head and a first comment are under way; events may be sent, from any thread.
    func opened(_ stream: EventStream)

    /// After ``EventStream/isFull``: there is room again.
    func drained(_ stream: EventStream)

    /// The stream is over, whoever ended it; the last call.
    func closed(_ stream: EventStream)
}

extension EventStreamHandler {
    /// The id of the last event that was sent is place enough.
    public var place: Int64? { nil }

    /// Nobody waits for room.
    public func drained(_ stream: EventStream) {}
}
