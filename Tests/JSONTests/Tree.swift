import JSON

/// A value as a tree, to compare what was written with what is read.
indirect enum Tree: Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case text(String)
    case array([Tree])
    case object([Member])

    struct Member: Hashable {
        let name: [UInt8]
        let value: Tree
    }
}

extension Tree {
    init(_ value: JSONValue) {
        switch value.kind {
        case .null: self = .null
        case .bool: self = .bool(value.bool == true)
        case .number: self = value.integer.map(Tree.integer) ?? .null
        case .string: self = .text(value.string ?? "")
        case .array: self = .array(value.elements.map(Tree.init))
        case .object:
            self = .object(
                value.members.map { Member(name: Array($0.key.utf8), value: Tree($0.value)) })
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let truth): writer.bool(truth)
        case .integer(let number): writer.integer(number)
        case .text(let text): writer.string(text)
        case .array(let elements):
            writer.array { writer in
                for element in elements { element.write(to: &writer) }
            }
        case .object(let members):
            writer.object { writer in
                for member in members {
                    writer.key(String(decoding: member.name, as: UTF8.self))
                    member.value.write(to: &writer)
                }
            }
        }
    }

    var bytes: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.finish()
    }
}
