/// Whatever answers requests: the router of a product, or an echo in a test.
///
/// An object, because the loops hold it together and call it for every request.
public protocol Service: AnyObject, Sendable {
    /// Decides from the head; called on the connection's loop, must not block.
    func answer(to request: Request) -> Answer

    /// Renders what the HTTP layer itself refuses, in the service's own error format.
    func refusal(_ refusal: Refusal) -> Response
}

extension Service {
    /// A problem document (RFC 9457), for services without a format of their own.
    public func refusal(_ refusal: Refusal) -> Response {
        Response(
            refusal.status, "application/problem+json",
            Array(
                "{\"title\":\"\(refusal.status.reason)\",\"status\":\(refusal.status.code),\"detail\":\"\(refusal.reason)\"}"
                    .utf8))
    }
}
