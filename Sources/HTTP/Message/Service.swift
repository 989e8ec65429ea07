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

/// What a service does with a request once it has seen the head.
public struct Answer: Sendable {
    /// The work that makes the response; it runs on the connection's loop and must not block it.
    public typealias Work = @Sendable (any RequestBody) async -> Response

    /// The ways to answer.
    public enum Outcome: Sendable {
        /// At once, from the head alone.
        case response(Response)
        /// After waiting: for the body, the database, the disk.
        case work(BodyPolicy, Work)
        /// With another protocol, at once; after some work it is ``Response/init(_:)``.
        case upgrade(Upgrade)
    }

    /// The route's template, such as `/apps/{app}/conversations`, for logs and metrics (H212).
    public let route: String
    /// The user on whose behalf the request is made, for logs (H206); `nil` for none.
    public var user: String?
    /// What happens.
    public let outcome: Outcome

    /// Answers at once.
    public init(_ route: String, _ response: Response) {
        self.route = route
        outcome = .response(response)
    }

    /// Goes over to another protocol.
    public init(_ route: String, _ upgrade: Upgrade) {
        self.route = route
        outcome = .upgrade(upgrade)
    }

    /// Answers after some work.
    public init(_ route: String, _ policy: BodyPolicy = .default, work: @escaping Work) {
        self.route = route
        outcome = .work(policy, work)
    }

    /// The three parts, handed over: what becomes of a response costs no copy of it.
    public consuming func parts() -> (route: String, user: String?, outcome: Outcome) {
        (route, user, outcome)
    }
}

/// Why a message is refused by the HTTP layer itself: the status, the rule that failed, its reason.
public struct Refusal: Error, Sendable {
    /// The status of the answer.
    public let status: Status
    // Literals cost nothing to copy or to let go, and every parsed head carries room for a refusal.
    private let ruleText: StaticString
    private let reasonText: StaticString

    /// Makes a refusal.
    public init(_ status: Status, _ rule: StaticString, _ reason: StaticString) {
        self.status = status
        ruleText = rule
        reasonText = reason
    }

    /// The number of the rule in the HTTP specification, such as `H22`; for the log.
    public var rule: String { ruleText.description }

    /// One sentence for the caller, without anything the caller sent.
    public var reason: String { reasonText.description }
}

extension Refusal: Equatable {
    /// The same when status, rule and reason are.
    public static func == (left: Refusal, right: Refusal) -> Bool {
        left.status == right.status && left.rule == right.rule && left.reason == right.reason
    }
}
