import JSON
import TestSupport
import Testing

@Suite struct `Properties of JSON` {
    @Test(arguments: 0..<500) func `a written document reads back`(case number: UInt64) throws {
        var random = SeededGenerator(number)
        let tree = random.tree()
        #expect(Tree(try JSONDocument(tree.bytes).root) == tree)
    }

    @Test(arguments: 0..<500) func `a document that was read is written the same`(
        case number: UInt64
    ) throws {
        var random = SeededGenerator(number)
        let bytes = random.tree().bytes
        #expect(Tree(try JSONDocument(bytes).root).bytes == bytes)
    }

    @Test(arguments: 0..<20) func `no prefix of a document is a document`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let document = Tree.array([random.tree(depth: 1)]).bytes
        expectRefusalOfEveryPrefix(of: document)
    }

    @Test func `a document with escapes is rejected cut at every byte`() {
        expectRefusalOfEveryPrefix(
            of: Array(#"{"\ud83D\uDE00€😀":[-1.5e+3,true,false,null,"\u0041"],"b":{}}"#.utf8))
    }

    /// No input may stop the process; an accepted document can be read and written again.
    @Test(arguments: 0..<4000) func `a damaged document is read or rejected`(
        case number: UInt64
    ) throws {
        var random = SeededGenerator(number)
        var bytes = random.tree().bytes
        for _ in 0...random.below(4) { random.damage(&bytes) }
        let tree = (try? JSONDocument(bytes)).map { Tree($0.root) }
        #expect(try tree.map { Tree(try JSONDocument($0.bytes).root) } == tree)
    }

    private func expectRefusalOfEveryPrefix(
        of bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let accepted = bytes.indices.filter { (try? JSONDocument(Array(bytes[..<$0]))) != nil }
        #expect(accepted.isEmpty, sourceLocation: sourceLocation)
        #expect((try? JSONDocument(bytes)) != nil, sourceLocation: sourceLocation)
    }
}

extension SeededGenerator {
    fileprivate mutating func damage(_ bytes: inout [UInt8]) {
        let significant =
            Array(#"{}[]",:\u-+.eE019tfn "#.utf8) + [0, 0x1F, 0x80, 0xC2, 0xED, 0xF4, 0xFF]
        let index = below(bytes.count + 1)
        let byte = significant[below(significant.count)]
        switch below(4) {
        case 0: bytes.insert(byte, at: index)
        case 1: bytes.removeSubrange(index..<min(bytes.count, index + below(3)))
        case 2 where index < bytes.count: bytes[index] = byte
        default: bytes.insert(contentsOf: bytes.prefix(below(20)), at: index)
        }
    }
}

/// A JSON value as a tree, to compare what was written with what is read.
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
        case .bool(let isTrue): writer.bool(isTrue)
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

extension SeededGenerator {
    mutating func text() -> String {
        let kinds: [ClosedRange<UInt32>] = [
            0x00...0x1F, 0x20...0x7F, 0x22...0x22, 0x5C...0x5C, 0x80...0x7FF, 0x800...0xD7FF,
            0xE000...0xFFFF, 0x1_0000...0x10_FFFF, 0x41...0x5A, 0x61...0x7A, 0x61...0x7A,
        ]
        var scalars = String.UnicodeScalarView()
        for _ in 0..<below(24) {
            let kind = kinds[below(kinds.count)]
            scalars.append(Unicode.Scalar(UInt32.random(in: kind, using: &self)) ?? "?")
        }
        return String(scalars)
    }

    mutating func tree(depth: Int = 4) -> Tree {
        switch below(depth > 0 ? 7 : 4) {
        case 0: return .null
        case 1: return .bool(.random(using: &self))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &self) >> below(64))
        case 3: return .text(text())
        case 4: return .array((0..<below(5)).map { _ in tree(depth: depth - 1) })
        default:
            var names: Set<[UInt8]> = []
            for _ in 0..<below(14) { names.insert(Array(text().utf8)) }
            let ordered = names.sorted { $0.lexicographicallyPrecedes($1) }
            return .object(
                ordered.map { Tree.Member(name: $0, value: tree(depth: depth - 1)) })
        }
    }
}
