import HTTP
import Messaging

/// One method on one path of the API of the console.
struct ConsoleRoute: Sendable {
    /// The accounts that may use it.
    enum Access: Sendable {
        /// Anyone: it begins a session.
        case login
        /// An operator or a token with this role; a token only for its own application.
        case all(Token.Scope)
        /// An operator with this role.
        case operators(Token.Scope)
    }

    /// How a request with an `Idempotency-Key` that was used before is answered.
    enum Repetition: Equatable, Sendable {
        /// The header has no effect.
        case ignored
        /// With the first answer, without the member that holds a secret. The handler uses only the store of the request,
        /// which is one transaction.
        case replayed(withoutMember: String?)
        /// With the first answer. The handler also has an effect outside of the database.
        case replayedOutsideTransaction
    }

    let method: Method
    let path: PathTemplate
    let access: Access
    /// The members that its body may have.
    let members: [String]
    /// The parameters that its query may have.
    let parameters: [String]
    /// Whether its handler reads the body, which may be as large as an import.
    let isStreamed: Bool
    /// Whether it may examine many rows, so that few run at once.
    let isScan: Bool
    /// How an `Idempotency-Key` is treated.
    let repetition: Repetition
    /// Whether a body in the format Layer Patch is one for the Platform API, which has the same method and path.
    let yieldsToPatches: Bool
    let handle: @Sendable (ConsoleRequest) async throws -> Response

    init(
        _ method: Method, _ path: PathTemplate, _ access: Access, members: [String] = [],
        parameters: [String] = [], isStreamed: Bool = false, isScan: Bool = false,
        repetition: Repetition = .ignored, yieldsToPatches: Bool = false,
        _ handle: @escaping @Sendable (ConsoleRequest) async throws -> Response
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.members = members
        self.parameters = parameters
        self.isStreamed = isStreamed
        self.isScan = isScan
        self.repetition = repetition
        self.yieldsToPatches = yieldsToPatches
        self.handle = handle
    }

    /// All routes.
    static let all: [ConsoleRoute] = [
        sessions, applications, tokens, webhooks, audit, server, jobs,
    ]
    .flatMap(\.self)
}
