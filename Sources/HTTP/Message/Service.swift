/// Answers requests: the router of the product, or an echo in tests.
///
/// A class, because all event loops share it.
public protocol Service: AnyObject, Sendable {
    /// Decides how to answer from the request's head. Called on the connection's loop; must not
    /// block.
    func answer(to request: Request) -> Answer

    /// The response for a refusal by the HTTP layer, in the service's own error format.
    func refusal(_ refusal: Refusal) -> Response

    /// The response to a stated body length above the limit of its endpoint, in bytes (H44).
    func bodyTooLarge(limit: Int64) -> Response

    /// The response to `TRACE`, which no path offers, with the methods that the path offers (H20).
    func traceNotOffered(allowed: String) -> Response
}

extension Service {
    /// ``refusal(_:)`` for services that do not name the limit.
    public func bodyTooLarge(limit: Int64) -> Response { refusal(.bodyTooLarge) }

    /// ``refusal(_:)`` for services that do not name the methods.
    public func traceNotOffered(allowed: String) -> Response {
        refusal(Refusal(.methodNotAllowed, "H20", "TRACE is not offered here."))
    }

    /// A problem document (RFC 9457), for services without their own error format.
    public func refusal(_ refusal: Refusal) -> Response {
        Response(
            refusal.status, "application/problem+json",
            Array(
                "{\"title\":\"\(refusal.status.reason)\",\"status\":\(refusal.status.code),\"detail\":\"\(refusal.reason)\"}"
                    .utf8))
    }
}

/// A service's decision about a request, made from its head.
public struct Answer: Sendable {
    /// Makes the response; runs on the connection's loop and must not block it.
    public typealias Work = @Sendable (any RequestBody) async -> Response

    /// The kinds of decisions.
    public enum Outcome: Sendable {
        /// Responds at once, from the head alone.
        case response(Response)
        /// Responds asynchronously, after reading the body, the database or the disk.
        case work(BodyPolicy, Work)
        /// Changes the protocol at once; to do so asynchronously, return ``Response/init(_:)``.
        case upgrade(Upgrade)
    }

    /// The template of the route, such as `/apps/{app}/conversations`, for logs and metrics (H212).
    public let route: String
    /// The user on whose behalf the request is made, for logs (H206); `nil` for none.
    public var user: String?
    /// The decision.
    public let outcome: Outcome

    /// Responds at once.
    public init(_ route: String, _ response: Response) {
        self.route = route
        outcome = .response(response)
    }

    /// Changes the protocol.
    public init(_ route: String, _ upgrade: Upgrade) {
        self.route = route
        outcome = .upgrade(upgrade)
    }

    /// Responds asynchronously.
    public init(_ route: String, _ policy: BodyPolicy = .default, work: @escaping Work) {
        self.route = route
        outcome = .work(policy, work)
    }

    /// Moves the three parts out, so that the response is not copied.
    public consuming func parts() -> (route: String, user: String?, outcome: Outcome) {
        (route, user, outcome)
    }
}

/// A rejection by the HTTP layer itself: status, violated rule and reason.
public struct Refusal: Error, Sendable {
    /// The status of the response.
    public let status: Status
    // Literals are trivial to copy, and every parsed head stores an optional refusal.
    private let ruleText: StaticString
    private let reasonText: StaticString

    /// Makes a refusal.
    public init(_ status: Status, _ rule: StaticString, _ reason: StaticString) {
        self.status = status
        ruleText = rule
        reasonText = reason
    }

    /// The violated rule, such as `H22`, for the log.
    public var rule: String { ruleText.description }

    /// One sentence for the client; contains nothing that the client sent.
    public var reason: String { reasonText.description }
}

extension Refusal: Equatable {
    /// Equal when status, rule and reason are.
    public static func == (left: Refusal, right: Refusal) -> Bool {
        left.status == right.status && left.rule == right.rule && left.reason == right.reason
    }
}
