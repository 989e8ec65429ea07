public import JSON
import Messaging

/// The common form of all patches: an array of operations, or a single one (platform-api §4).
public enum PatchJSON {
    /// Whether a body has the form of a patch: an array of objects, or one object.
    public static func isPatch(_ body: JSONValue) -> Bool {
        switch body.kind {
        case .object: true
        case .array: body.elements.allSatisfy { $0.kind == .object }
        default: false
        }
    }

    /// Reads each operation in order.
    static func read<Operation>(
        _ body: JSONValue, _ read: (PatchOperation) throws(Rejection) -> Operation
    ) throws(Rejection) -> [Operation] {
        guard body.kind == .array else { return [try read(PatchOperation(body))] }
        var operations: [Operation] = []
        for element in body.elements { operations.append(try read(PatchOperation(element))) }
        return operations
    }
}

/// One operation of a Layer-Patch, with the members that all patches share (platform-api §4).
///
/// Errors name the property by ruling 5: a missing, unknown or wrongly typed member by its own name
/// (`operation`, `property`, `value`); everything else, such as an operation that does not apply, an
/// invalid key or a limit, by the text of `property`.
struct PatchOperation {
    enum Verb: String {
        case add, remove, set, delete
    }

    private let json: JSONValue
    let verb: Verb
    /// The text of `property`.
    let property: String

    init(_ json: JSONValue) throws(Rejection) {
        self.json = json
        guard let operation = json.present("operation") else { throw .missing("operation") }
        guard let verb = operation.string.flatMap(Verb.init) else {
            throw .invalid("operation", .patchVerb, .init(text: operation.string))
        }
        guard let name = json.present("property") else { throw .missing("property") }
        guard let property = name.string else { throw .invalid("property", .patchProperty) }
        self.verb = verb
        self.property = property
    }

    /// Returns the operand: `id` if present, otherwise `value`; an index alone is not supported.
    func operand() throws(Rejection) -> JSONValue {
        if let operand = json.present("id") ?? json.present("value") { return operand }
        guard json.present("index") == nil else { throw .invalid(property, .patchIndex) }
        throw .missing("value")
    }

    /// The schema of the member `index`, which is ignored beside an operand (platform-api §4).
    static let ignoredIndex = JSONSchema.Member.accepted("index", .integer)

    /// Rejects an index without an operand, which is not supported.
    func refuseIndex() throws(Rejection) {
        guard json.present("index") == nil || json.present("value") != nil else {
            throw .invalid(property, .patchIndex)
        }
    }

    /// Returns the operand, which must be a string.
    func text() throws(Rejection) -> String {
        guard let text = try operand().string else { throw invalidOperand(.operandText) }
        return text
    }

    /// Requires `set`, the only operation for a property with a single value.
    func requireSet() throws(Rejection) {
        guard verb == .set else { throw .invalid(property, .verbOfValue) }
    }

    /// Returns the rejection of a property that the object does not have, or that no patch may change.
    func unknownProperty(_ rule: ValidationRule) -> Rejection {
        .invalid("property", rule, .init(text: property))
    }

    /// Returns the rejection of an operand that has another type than the property.
    func invalidOperand(_ rule: ValidationRule) -> Rejection {
        .invalid("value", rule, .init(path: property))
    }
}

// MARK: - Operands that are users

extension PatchOperation {
    /// The maximum number of users that one patch may name, unless a conversation may have more
    /// participants (proposed).
    ///
    /// The single writer applies operations one after another: a megabyte of names would delay all other
    /// changes.
    static let mostUsersNamed = 1000

    /// Reads the user to add or remove.
    func user(_ version: APIVersion) throws(Rejection) -> UserID {
        let operand = try operand()
        guard let name = operand.string else { throw invalidOperand(.operandUser) }
        // `id` names an object by its URI in every version.
        let isURI = json.present("id") != nil
        let user = isURI ? UserIDJSON.read(identity: name) : UserIDJSON.read(operand, version)
        guard let user else { throw .invalid(property, .operandUserID) }
        return user
    }

    /// Reads the users to set, without duplicates.
    func users(_ version: APIVersion, atMost limit: Int) throws(Rejection) -> [UserID] {
        let operand = try operand()
        guard operand.kind == .array, operand.elements.allSatisfy({ $0.kind == .string })
        else { throw invalidOperand(.operandUsers) }
        guard operand.count <= limit else {
            throw .invalid(property, .operandUserCount, .init(amount: operand.count, limit: limit))
        }
        guard let users = UserIDJSON.list(operand, version) else {
            throw .invalid(property, .operandUserIDs)
        }
        return users
    }
}

/// The property of a patch operation: a dotted path (platform-api §4).
enum PatchProperty {
    case participants
    /// Keys from the root of the tree; empty for the whole tree.
    case metadata([String])

    /// Parses a path; `\.` means a dot inside a key.
    ///
    /// - Returns: `nil` if the first element is not a property that can be patched.
    init?(_ text: String) {
        let path = PatchProperty.split(text)
        switch path.first {
        case "participants" where path.count == 1: self = .participants
        case "metadata": self = .metadata(Array(path.dropFirst()))
        default: return nil
        }
    }

    /// Returns the elements of a dotted path, at least one.
    static func split(_ text: String) -> [String] {
        var path: [String.UnicodeScalarView] = [.init()]
        var isEscaped = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "." where !isEscaped: path.append(.init())
            case ".": path[path.count - 1].append(scalar)
            default:
                // A backslash before any other character than a dot is literal.
                if isEscaped { path[path.count - 1].append("\\") }
                path[path.count - 1].append(scalar)
            }
            isEscaped = false
        }
        if isEscaped { path[path.count - 1].append("\\") }
        return path.map(String.init)
    }
}

extension JSONValue {
    /// The value of a member; an explicit `null` counts as missing (ruling 2).
    func present(_ name: String) -> JSONValue? {
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }
}
