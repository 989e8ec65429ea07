import JSON
import TestSupport
import Testing

@Suite struct `The laws of JSON` {
    @Test(arguments: 0..<500) func `what was written reads back`(case number: UInt64) throws {
        var any = Generator(number)
        let tree = any.tree()
        #expect(Tree(try JSONDocument(tree.bytes).root) == tree)
    }

    @Test(arguments: 0..<500) func `what was read writes the same again`(
        case number: UInt64
    ) throws {
        var any = Generator(number)
        let bytes = any.tree().bytes
        #expect(Tree(try JSONDocument(bytes).root).bytes == bytes)
    }

    @Test(arguments: 0..<20) func `no document is the beginning of another`(
        case number: UInt64
    ) {
        var any = Generator(number)
        let document = Tree.array([any.tree(depth: 1)]).bytes
        expectRefusalOfEveryPrefix(of: document)
    }

    @Test func `an escaped document is refused cut at every byte`() {
        expectRefusalOfEveryPrefix(
            of: Array(#"{"\ud83D\uDE00€😀":[-1.5e+3,true,false,null,"\u0041"],"b":{}}"#.utf8))
    }

    /// Nothing may stop the process; what is accepted can be looked at and said again.
    @Test(arguments: 0..<4000) func `a damaged document is read or refused`(
        case number: UInt64
    ) throws {
        var any = Generator(number)
        var bytes = any.tree().bytes
        for _ in 0...any.below(4) { any.damage(&bytes) }
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

extension Generator {
    fileprivate mutating func damage(_ bytes: inout [UInt8]) {
        let telling =
            Array(#"{}[]",:\u-+.eE019tfn "#.utf8) + [0, 0x1F, 0x80, 0xC2, 0xED, 0xF4, 0xFF]
        let place = below(bytes.count + 1)
        let byte = telling[below(telling.count)]
        switch below(4) {
        case 0: bytes.insert(byte, at: place)
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + below(3)))
        case 2 where place < bytes.count: bytes[place] = byte
        default: bytes.insert(contentsOf: bytes.prefix(below(20)), at: place)
        }
    }
}
