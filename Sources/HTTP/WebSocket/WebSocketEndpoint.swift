internal import Locking

/// A route on which WebSockets are opened: its settings, and whether it still takes any.
public final class WebSocketEndpoint: Sendable {
    /// What comes of a request on the route.
    public enum Handshake: Sendable {
        /// It asks rightly; whoever has checked the rest may accept it.
        case valid(WebSocketOffer)
        /// The answer to one that does not.
        case refused(Response)
    }

    let settings: WebSocketSettings
    private let isStopping = Locked(false)

    /// Makes a route's end.
    public init(_ settings: WebSocketSettings = WebSocketSettings()) { self.settings = settings }

    /// New handshakes are refused with 503 (H147); done by itself once one of its sockets is told
    /// that the server stops.
    public func stop() { isStopping.withLock { isStopping in isStopping = true } }

    /// Checks a request; authentication and limits are up to the caller, before it accepts (H129).
    ///
    /// - Parameter render: Writes the content of a refusal, such as `service.refusal`.
    public func handshake(
        _ request: Request, refusing render: (Refusal) -> Response
    ) -> Handshake {
        do throws(HandshakeFault) {
            guard !isStopping.withLock({ isStopping in isStopping }) else { throw .stopping }
            return .valid(try WebSocketOffer(request, self))
        } catch {
            return .refused(error.response(render))
        }
    }
}
