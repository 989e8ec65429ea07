public import JSON
public import Messaging

/// The body of `PATCH …/conversations/{C}`: Layer-Patch (platform-api §4, §5.1.5).
///
/// The property at fault is named after ruling 5: a member that is missing, of the wrong type or
/// unknown by its own name (`operation`, `property`, `value`), everything else — an operation that does
/// not suit, a bad key, a limit — by the text of `property`.
public enum ConversationPatchJSON {
    /// Whether a body has the outline of a patch: an array of objects, or one object.
    public static func isPatch(_ body: JSONValue) -> Bool {
        switch body.kind {
        case .object: true
        case .array: body.elements.allSatisfy { $0.kind == .object }
        default: false
        }
    }

    /// Reads the operations in their order; one object is an array of one.
    public static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> [ConversationPatch] {
        guard body.kind == .array else { return [try operation(body, version)] }
        var operations: [ConversationPatch] = []
        var named = 0
        for element in body.elements {
            let operation = try operation(element, version)
            named += operation.usersNamed
            guard named <= mostUsersNamed else { throw .invalid(operation.property) }
            operations.append(operation)
        }
        return operations
    }

    /// How many users one patch may name; (proposed), far above what 25 participants can need.
    ///
    /// Operations are applied one after another on the one writer: a megabyte of names would keep
    /// everybody else waiting.
    private static let mostUsersNamed = 1000

    private static func operation(
        _ json: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> ConversationPatch {
        let verb = try verb(json)
        guard let name = json.present("property") else { throw .missing("property") }
        guard let text = name.string, let property = PatchProperty(text) else {
            throw .invalid("property")
        }
        switch property {
        case .participants: return try participants(verb, json, text, version)
        case .metadata(let path): return try metadata(verb, json, text, path)
        }
    }

    private enum Verb: String {
        case add, remove, set, delete
    }

    private static func verb(_ json: JSONValue) throws(Rejection) -> Verb {
        guard let value = json.present("operation") else { throw .missing("operation") }
        guard let verb = value.string.flatMap(Verb.init) else { throw .invalid("operation") }
        return verb
    }

    // MARK: - Participants

    private static func participants(
        _ verb: Verb, _ json: JSONValue, _ text: String, _ version: APIVersion
    ) throws(Rejection) -> ConversationPatch {
        switch verb {
        case .add: return .addParticipant(try participant(json, text, version))
        case .remove: return .removeParticipant(try participant(json, text, version))
        case .set:
            let operand = try operand(json, text)
            guard operand.kind == .array,
                operand.elements.allSatisfy({ $0.kind == .string })
            else { throw .invalid("value") }
            guard operand.count <= mostUsersNamed,
                let users = UserIDJSON.list(operand, version)
            else { throw .invalid(text) }
            return .setParticipants(users)
        case .delete: throw .invalid(text)
        }
    }

    private static func participant(
        _ json: JSONValue, _ text: String, _ version: APIVersion
    ) throws(Rejection) -> UserID {
        let operand = try operand(json, text)
        guard let name = operand.string else { throw .invalid("value") }
        // `id` names an object by its URI in every version.
        let isURI = json.present("id") != nil
        let user = isURI ? UserIDJSON.read(identity: name) : UserIDJSON.read(operand, version)
        guard let user else { throw .invalid(text) }
        return user
    }

    // MARK: - Metadata

    private static func metadata(
        _ verb: Verb, _ json: JSONValue, _ text: String, _ path: [String]
    ) throws(Rejection) -> ConversationPatch {
        switch verb {
        case .set:
            try check(path, .empty, as: text)
            let operand = try operand(json, text)
            guard !path.isEmpty || operand.kind == .object, let tree = MetadataJSON.read(operand)
            else { throw .invalid("value") }
            try check(path, tree, as: text)
            return .setMetadata(path: path, tree)
        case .delete:
            try check(path, .empty, as: text)
            guard json.present("index") == nil || json.present("value") != nil else {
                throw .invalid(text)
            }
            return .deleteMetadata(path: path)
        case .add, .remove: throw .invalid(text)
        }
    }

    /// Judges keys, texts and depth as they will stand in the whole tree.
    private static func check(
        _ path: [String], _ tree: MetadataTree, as text: String
    ) throws(Rejection) {
        // Judged before it is built: a path of a megabyte of dots is a tree too deep to be freed.
        guard path.count <= MetadataLimits.depth + 1 else { throw .invalid(text) }
        try path.reversed().reduce(tree) { tree, key in
            .object([MetadataTree.Member(key: key, value: tree)])
        }.check(as: text)
    }

    /// The operand: `id` where it is given, else `value`; an index alone is not supported.
    private static func operand(
        _ json: JSONValue, _ text: String
    ) throws(Rejection) -> JSONValue {
        if let operand = json.present("id") ?? json.present("value") { return operand }
        guard json.present("index") == nil else { throw .invalid(text) }
        throw .missing("value")
    }
}

extension ConversationPatch {
    fileprivate var usersNamed: Int {
        switch self {
        case .addParticipant, .removeParticipant: 1
        case .setParticipants(let users): users.count
        case .setMetadata, .deleteMetadata: 0
        }
    }
}
