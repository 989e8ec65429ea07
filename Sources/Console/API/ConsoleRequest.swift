import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import PlatformAPI

/// The account of a request to the API of the console.
enum ConsolePrincipal: Sendable {
    /// The session in the cookie.
    case session(ConsoleGrant)
    /// The token in `Authorization`.
    case token(Grant)

    /// What it may do.
    var role: Token.Scope {
        switch self {
        case .session(let grant): grant.role
        case .token(let grant): grant.token.scope
        }
    }

    /// The operator; `nil` for a token of an application.
    var account: Operator? {
        guard case .session(let grant) = self, case .named(let account) = grant.account else {
            return nil
        }
        return account
    }

    /// The session; `nil` for a token in `Authorization`.
    var session: ConsoleSession? {
        if case .session(let grant) = self { grant.session } else { nil }
    }

    /// The token of an application; `nil` for an operator.
    var token: Grant? {
        switch self {
        case .token(let grant): return grant
        case .session(let grant):
            guard case .token(let token) = grant.account else { return nil }
            return token
        }
    }

    /// The name in the server's log.
    var name: String {
        account?.name ?? token.map { grant in "token:\(grant.token.id)" } ?? ""
    }
}

/// A request to the API of the console that has passed the checks of its route.
struct ConsoleRequest: Sendable {
    let api: ConsoleAPI
    /// The store; one transaction if the request has an `Idempotency-Key`.
    var store: MessagingStore
    let request: Request
    let parameters: PathParameters
    /// The declared parameters of the query.
    let query: [(name: String, value: String)]
    /// The body; an empty object if there is none.
    let body: JSONValue
    /// The body as it arrives, for a route that reads it.
    let stream: any RequestBody
    /// `nil` for a login.
    let principal: ConsolePrincipal?

    /// Where changes come from.
    var origin: AuditOrigin {
        AuditOrigin(
            actor: principal?.name, address: request.peer.description,
            request: request.id.description)
    }

    /// The actor of the events that the request records in an application.
    var actor: EventActor {
        principal?.token.map { grant in .token(grant.token.id) }
            ?? .named("console:\(principal?.name ?? "")")
    }

    /// The first value of a parameter.
    func parameter(_ name: String) -> String? {
        query.first { parameter in parameter.name == name }?.value
    }

    /// The number in a parameter; a larger one than allowed is cut.
    func count(_ name: String, from least: Int64, upTo largest: Int64) throws -> Int64? {
        guard let text = parameter(name) else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            case let number = Int64(text) ?? .max, number >= least
        else {
            throw APIError(
                .invalidProperty,
                "`\(name)` must be a whole number of at least \(least).", data: .property(name))
        }
        return min(number, largest)
    }

    /// The id in a parameter.
    ///
    /// - Parameter what: What it is the id of, for the error.
    func id<Subject>(_ name: String, of what: String) throws -> Identifier<Subject>? {
        try parameter(name).map { text in
            guard let id = Identifier<Subject>(uuid: text) else {
                throw APIError(
                    .invalidProperty, "`\(name)` must be the id of \(what).",
                    data: .property(name))
            }
            return id
        }
    }

    /// Reads one of the names of a type.
    func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ text: String, named name: String
    ) throws -> Value {
        guard let value = Value(rawValue: text) else {
            let names = Value.allCases.map { value in "`\(value.rawValue)`" }
            throw APIError(
                .invalidProperty, "`\(name)` must be one of \(names.joined(separator: ", ")).",
                data: .property(name))
        }
        return value
    }

    /// The application in the path, which exists.
    func application() async throws -> Application {
        guard let id = parameters["app"].flatMap({ Application.ID(uuid: $0) }),
            let application = try await store.application(id)
        else { throw Rejection.notFound(.application) }
        return application
    }

    /// A text in the body.
    func text(_ name: String, length: ClosedRange<Int>) throws -> String {
        guard let text = try textIfPresent(name, length: length) else {
            throw Rejection.missing(name)
        }
        return text
    }

    /// A text in the body; `nil` if it is missing or `null`.
    func textIfPresent(_ name: String, length: ClosedRange<Int>) throws -> String? {
        guard let value = body[name], !value.isNull else { return nil }
        guard let text = value.string, length.contains(text.utf8.count) else {
            throw APIError(
                .invalidProperty,
                "`\(name)` must be a text of \(length.lowerBound) to \(length.upperBound) bytes.",
                data: .property(name))
        }
        return text
    }
}

extension Response {
    /// A JSON response that is never stored.
    static func console(
        _ status: Status = .ok, _ write: (inout JSONWriter) throws -> Void
    ) rethrows -> Response {
        var writer = JSONWriter()
        try write(&writer)
        var response = Response(status, "application/json; charset=UTF-8", writer.finish())
        response.fields.add("Cache-Control", "no-store")
        return response
    }

    /// 204, which is never stored.
    static var consoleNoContent: Response {
        var response = Response(.noContent)
        response.fields.add("Cache-Control", "no-store")
        return response
    }
}

extension JSONWriter {
    /// Writes a member with a time, or with `null`.
    mutating func member(_ name: StaticString, _ moment: Timestamp?) {
        member(name, moment.map(TimestampJSON.text))
    }
}
