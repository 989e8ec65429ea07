import JSON
import Messaging

/// One operation of a Layer-Patch, as far as all patches have it in common (platform-api §4).
///
/// The property at fault is named after ruling 5: a member that is missing, of the wrong type or
/// unknown by its own name (`operation`, `property`, `value`), everything else — an operation that does
/// not suit, a bad key, a limit — by the text of `property`.
struct PatchOperation {
    enum Verb: String {
        case add, remove, set, delete
    }

    let json: JSONValue
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

    /// The operand: `id` where it is given, else `value`; an index alone is not supported.
    func operand() throws(Rejection) -> JSONValue {
        if let operand = json.present("id") ?? json.present("value") { return operand }
        guard json.present("index") == nil else { throw .invalid(property, .patchIndex) }
        throw .missing("value")
    }

    /// An index without an operand asks for something that is not offered.
    func refuseIndex() throws(Rejection) {
        guard json.present("index") == nil || json.present("value") != nil else {
            throw .invalid(property, .patchIndex)
        }
    }

    /// A text as operand.
    func text() throws(Rejection) -> String {
        guard let text = try operand().string else { throw invalidOperand(.operandText) }
        return text
    }

    /// Requires `set`, the one operation that a property with a single value has.
    func requireSet() throws(Rejection) {
        guard verb == .set else { throw .invalid(property, .verbOfValue) }
    }

    /// The rejection of a property that the object does not have, or that no patch may change.
    func unknownProperty(_ rule: Rule) -> Rejection {
        .invalid("property", rule, .init(text: property))
    }

    /// The rejection of an operand of the wrong type.
    func invalidOperand(_ rule: Rule) -> Rejection {
        .invalid("value", rule, .init(path: property))
    }
}

// MARK: - Operands that are users

extension PatchOperation {
    /// How many users one patch may name, unless a conversation may have more participants; (proposed).
    ///
    /// Operations are applied one after another on the one writer: a megabyte of names would delay all
    /// other changes.
    static let mostUsersNamed = 1000

    /// The user that is added or removed.
    func user(_ version: APIVersion) throws(Rejection) -> UserID {
        let operand = try operand()
        guard let name = operand.string else { throw invalidOperand(.operandUser) }
        // `id` names an object by its URI in every version.
        let isURI = json.present("id") != nil
        let user = isURI ? UserIDJSON.read(identity: name) : UserIDJSON.read(operand, version)
        guard let user else { throw .invalid(property, .operandUserID) }
        return user
    }

    /// The users that are set.
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
