import Messaging
import TestSupport
import Testing

@Suite struct `Merging metadata` {
    @Test(arguments: 0..<500) func `X1.4: the order of two copies does not matter`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let (left, right) = (random.metadata(), random.metadata())
        #expect(left.merging(right) == right.merging(left))
    }

    @Test(arguments: 0..<500) func `X1.4: the grouping of three copies does not matter`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let (one, two, three) = (random.metadata(), random.metadata(), random.metadata())
        #expect(one.merging(two).merging(three) == one.merging(two.merging(three)))
    }

    @Test(arguments: 0..<500) func `X1.4: merging twice changes nothing`(case number: UInt64) {
        var random = SeededGenerator(number)
        let (left, right) = (random.metadata(), random.metadata())
        #expect(left.merging(left) == left)
        #expect(left.merging(right).merging(right) == left.merging(right))
    }

    @Test(arguments: 0..<500) func `R47: a later copy contains every earlier one`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let before = Conversation.sample(metadata: random.object())
        let after = before.applying(random.patches(), at: Timestamp(milliseconds: 5))
        #expect(after.metadata.merging(before.metadata) == after.metadata)
    }

    @Test(arguments: 0..<500) func `the writes make the same metadata`(case number: UInt64) {
        var random = SeededGenerator(number)
        let metadata = random.metadata()
        #expect(Metadata(writes: metadata.writes) == metadata)
    }

    @Test(arguments: 0..<500) func `R43–R46: writes have the effect of the operations`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let before = random.object()
        let patches = random.patches()
        let expected = patches.reduce(before) { tree, patch in tree.reference(applying: patch) }
        let after = Conversation.sample(metadata: before)
            .applying(patches, at: Timestamp(milliseconds: 5))
        #expect(after.metadata.view == expected)
    }

    @Test func `X1.4: of equal times the greater value wins`() {
        let (x, y) = (Metadata.single("x"), Metadata.single("y"))
        #expect(x.merging(y).view == ["a": "y"])
    }

    @Test func `X1.4: a deletion is a write`() {
        let deleted = Metadata(writes: [
            (["a"], MetadataWrite(.deleted, at: Timestamp(milliseconds: 2)))
        ])
        #expect(Metadata.single("x").merging(deleted).view == .empty)
    }

    @Test func `X1.4: separate copies keep keys that the other never had`() {
        let early = Metadata(
            ["a": ["b": "1", "c": "1"], "x": "1"], at: Timestamp(milliseconds: 1))
        for late in [["a": ["b": "2"], "y": "2"], ["a": ["d": [:], "b": "2"]], [:]]
            as [MetadataTree]
        {
            let merged = early.merging(Metadata(late, at: Timestamp(milliseconds: 2))).view
            #expect(merged["x"] == "1" && merged["a"]?["c"] == "1", "\(late)")
            #expect(merged["y"] == late["y"] && merged["a"]?["d"] == late["a"]?["d"])
            #expect(merged["a"]?["b"] == late["a"]?["b"] ?? "1")
        }
    }

    @Test func `X1.4: a replacement of all metadata also applies to the other copy`() {
        let early = Metadata(["a": "1"], at: Timestamp(milliseconds: 1))
        let late = Conversation.sample(metadata: ["b": "2"]).applying(
            [.setMetadata(path: [], ["c": "3"])], at: Timestamp(milliseconds: 5))
        #expect(early.merging(late.metadata).view == ["c": "3"])
    }

    @Test func `X1.4: a later leaf replaces a whole subtree`() {
        let subtree = Metadata(["a": ["b": "1", "c": "2"]], at: Timestamp(milliseconds: 0))
        #expect(subtree.merging(Metadata.single("x")).view == ["a": "x"])
    }
}

extension Metadata {
    fileprivate static func single(_ text: String) -> Metadata {
        Metadata(writes: [(["a"], MetadataWrite(.text(text), at: Timestamp(milliseconds: 1)))])
    }
}

extension MetadataTree {
    /// The effect of an operation on a tree, as a simple reference implementation.
    fileprivate func reference(applying patch: ConversationPatch) -> MetadataTree {
        switch patch {
        case .setMetadata(let path, let tree): setting(path[...], to: tree)
        case .deleteMetadata(let path): deleting(path[...])
        case .addParticipant, .removeParticipant, .setParticipants: self
        }
    }

    private func setting(_ path: ArraySlice<String>, to tree: MetadataTree) -> MetadataTree {
        guard let key = path.first else { return tree }
        let value = (self[key] ?? .empty).setting(path.dropFirst(), to: tree)
        return .object(
            members.filter { member in member.key != key } + [Member(key: key, value: value)])
    }

    private func deleting(_ path: ArraySlice<String>) -> MetadataTree {
        guard let key = path.first, let value = self[key] else { return self }
        let rest = path.count > 1 ? [Member(key: key, value: value.deleting(path.dropFirst()))] : []
        return .object(members.filter { member in member.key != key } + rest)
    }

    private var members: [Member] {
        if case .object(let members) = self { members } else { [] }
    }
}
