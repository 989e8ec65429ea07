import JSON
import Messaging
import Testing

/// Reads a JSON text that is known to be well-formed.
func json(_ text: String) throws -> JSONValue {
    try JSONDocument(Array(text.utf8)).root
}

/// A user id, which must be valid.
func user(_ name: String) throws -> UserID {
    try #require(UserID(name))
}

/// A rejection without the text of its rule, which the tests of PlatformAPI check.
enum Refusal: Equatable {
    case missing(String)
    case invalid(String)
    case other(Rejection)

    init(_ rejection: Rejection) {
        switch rejection {
        case .missing(let name): self = .missing(name)
        case .invalid(let name, _, _): self = .invalid(name)
        default: self = .other(rejection)
        }
    }
}

/// A request body and the expected rejection.
struct BadInput: CustomTestStringConvertible, Sendable {
    let body: String
    let rejection: Refusal

    var testDescription: String { "\(body) → \(rejection)" }

    static func missing(_ property: String, _ body: String) -> BadInput {
        BadInput(body: body, rejection: .missing(property))
    }

    static func invalid(_ property: String, _ body: String) -> BadInput {
        BadInput(body: body, rejection: .invalid(property))
    }
}

func expect<Value>(
    _ refusal: Refusal, sourceLocation: SourceLocation = #_sourceLocation,
    from read: () throws -> Value
) {
    let thrown = #expect(throws: Rejection.self, sourceLocation: sourceLocation) {
        _ = try read()
    }
    #expect(thrown.map(Refusal.init) == refusal, sourceLocation: sourceLocation)
}
