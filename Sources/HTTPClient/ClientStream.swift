public import HTTP

/// An answer whose body is still coming.
///
/// What nobody takes makes the sender wait: at most ``CurlTransfer/mostHeld`` octets and what one read of
/// the socket brings are held here. A stream that is let go ends its request.
public final class ClientStream: Sendable {
    private let head: AnswerHead
    private let loop: CurlLoop
    private let number: Int

    init(_ head: AnswerHead, _ loop: CurlLoop, _ number: Int) {
        self.head = head
        self.loop = loop
        self.number = number
    }

    deinit { loop.cancel(number) }

    /// 200…599.
    public var status: Int { head.status }
    /// The fields of its head.
    public var fields: Fields { head.fields }

    /// The next octets of the body, at least one; `nil` at its end. One caller at a time.
    public func next() async throws(HTTPClientError) -> [UInt8]? {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.read(number, continuation)
            }
        } onCancel: {
            loop.cancel(number)
        }
        return try outcome.get()
    }

    /// Ends the request; the connection is closed, because more of the answer would come.
    public func cancel() { loop.cancel(number) }
}

/// The head of a final answer.
struct AnswerHead: Sendable {
    let status: Int
    let fields: Fields
}
