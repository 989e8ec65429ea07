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
    public init(_ route: String, _ policy: BodyPolicy = .ordinary, work: @escaping Work) {
        self.route = route
        outcome = .work(policy, work)
    }

    /// The three parts, handed over: what becomes of a response costs no copy of it.
    public consuming func parts() -> (route: String, user: String?, outcome: Outcome) {
        (route, user, outcome)
    }
}
