import Messaging
import Testing

@Suite struct `Patching metadata` {
    let conversation = Conversation.sample(metadata: ["a": ["b": "1", "c": "2"], "d": "3"])

    @Test func `R43: setting a key leaves its siblings`() {
        #expect(
            conversation.tree(after: .setMetadata(path: ["a", "b"], "x"))
                == ["a": ["b": "x", "c": "2"], "d": "3"])
    }

    @Test func `R43: missing objects on the path are created`() {
        #expect(
            conversation.tree(after: .setMetadata(path: ["d", "e", "f"], "x"))
                == ["a": ["b": "1", "c": "2"], "d": ["e": ["f": "x"]]])
    }

    @Test func `R44: setting an object replaces the subtree`() {
        #expect(
            conversation.tree(after: .setMetadata(path: ["a"], ["e": "x"]))
                == ["a": ["e": "x"], "d": "3"])
    }

    @Test func `R45: setting the root replaces the whole tree`() {
        #expect(conversation.tree(after: .setMetadata(path: [], ["z": "x"])) == ["z": "x"])
    }

    @Test func `R46: deleting the last key of an object leaves it empty`() {
        #expect(
            conversation.tree(
                after: .deleteMetadata(path: ["a", "b"]), .deleteMetadata(path: ["a", "c"]))
                == ["a": .empty, "d": "3"])
    }

    @Test func `R46: deleting an absent key changes nothing`() throws {
        #expect(try conversation.events(of: .deleteMetadata(path: ["x"])) == [])
    }

    @Test func `ruling 8: deleting the root empties the tree`() {
        #expect(conversation.tree(after: .deleteMetadata(path: [])) == .empty)
    }

    @Test func `R48: a patch that restores its start changes nothing`() throws {
        #expect(
            try conversation.events(
                of: .setMetadata(path: ["d"], "x"), .setMetadata(path: ["d"], "3")) == [])
    }

    @Test func `R47: a write is later than what it replaces, whatever the clock says`() {
        let first = conversation.applying(
            [.setMetadata(path: ["d"], "x")], at: Timestamp(milliseconds: 9000))
        let second = first.applying(
            [.setMetadata(path: ["d"], "a")], at: Timestamp(milliseconds: 10))
        #expect(second.metadata.view["d"] == "a")
        #expect(second.metadata.merging(first.metadata) == second.metadata)
    }

    @Test(arguments: ["", "a b", "ä", "a.b", "$"]) func `R41: invalid keys are rejected`(
        key: String
    ) {
        expectRejection(.setMetadata(path: [key], "x"))
        expectRejection(.setMetadata(path: ["a"], .object([.init(key: key, value: "x")])))
    }

    @Test func `ruling 5: the rejection names the operation's property`() {
        let key = Rejection.Detail(path: "metadata", text: "x.y")
        #expect(throws: Rejection.invalid(#"metadata.a.x\.y"#, .metadataKey, key)) {
            try conversation.events(of: .setMetadata(path: ["a", "x.y"], "x"))
        }
    }

    @Test func `R42: a text has at most 2048 bytes`() throws {
        let text = String(repeating: "é", count: 1024)
        #expect(try !conversation.events(of: .setMetadata(path: ["d"], .text(text))).isEmpty)
        expectRejection(.setMetadata(path: ["d"], .text(text + "x")))
    }

    @Test func `R42: objects nest 32 levels below the root`() throws {
        let path = Array(repeating: "k", count: 32)
        #expect(try !conversation.events(of: .setMetadata(path: path, ["k": "x"])).isEmpty)
        expectRejection(.setMetadata(path: path, ["k": .empty]))
        expectRejection(.setMetadata(path: path + ["k", "k"], "x"))
    }

    @Test func `ruling 29: a path can write and delete every key that a tree may have`()
        throws
    {
        let path = Array(repeating: "k", count: 33)
        let deep = path.reversed().reduce(MetadataTree.text("x")) { tree, key in
            .object([MetadataTree.Member(key: key, value: tree)])
        }
        #expect(conversation.tree(after: .setMetadata(path: [], deep)) == deep)
        let byPath = conversation.applying(
            [.setMetadata(path: path, "x")], at: Timestamp(milliseconds: 8000))
        #expect(byPath.metadata.view["k"] == deep["k"])
        let deleted = byPath.applying(
            [.deleteMetadata(path: path)], at: Timestamp(milliseconds: 9000))
        #expect(deleted.metadata.view["k"] != deep["k"])
        expectRejection(.setMetadata(path: path, .empty))
        expectRejection(.deleteMetadata(path: path + ["k"]))
    }

    @Test func `R42: the tree has at most 256 KiB of compact JSON`() throws {
        let full = MetadataTree.filling(bytes: 256 * 1024)
        #expect(full.compactSize == 256 * 1024)
        #expect(try !conversation.events(of: .setMetadata(path: [], full)).isEmpty)
        let more = Rejection.Detail(amount: 256 * 1024 + 8)
        #expect(throws: Rejection.invalid("metadata", .metadataSize, more)) {
            try conversation.events(
                of: .setMetadata(path: [], full), .setMetadata(path: ["x"], "y"))
        }
    }

    @Test func `R40: the root cannot be a text`() {
        expectRejection(.setMetadata(path: [], "x"))
    }

    @Test func `R48: one invalid operation rejects the whole patch`() {
        #expect(throws: Rejection.self) {
            try conversation.events(
                of: .setMetadata(path: ["d"], "x"), .setMetadata(path: ["ä"], "x"))
        }
    }

    @Test func `deletions of new keys do not accumulate`() {
        var changed = conversation
        for round in 0..<3 {
            let paths = (0..<600).map { number in ["key\(round)-\(number)"] }
            changed = changed.applying(
                paths.map { path in .setMetadata(path: path, "x") },
                at: Timestamp(milliseconds: 1000))
            changed = changed.applying(
                paths.map { path in .deleteMetadata(path: path) },
                at: Timestamp(milliseconds: 1000))
        }
        #expect(changed.metadata.view == conversation.metadata.view)
        #expect(changed.metadata.writes.count < 1010)
    }

    private func expectRejection(
        _ patch: ConversationPatch, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: Rejection.self, sourceLocation: sourceLocation) {
            try conversation.events(of: patch)
        }
    }
}

extension Conversation {
    fileprivate func events(of patches: ConversationPatch...) throws(Rejection) -> [Event] {
        try patching(patches, MessagingLimits(), at: Timestamp(milliseconds: 1000))
    }
}

extension MetadataTree {
    /// An object of exactly `bytes` bytes of JSON, made of texts below their limit.
    fileprivate static func filling(bytes: Int) -> MetadataTree {
        var members: [Member] = []
        var rest = bytes - 2
        while rest > 0 {
            let key =
                String(repeating: "k", count: 5 - String(members.count).count)
                + String(members.count)
            let overhead = key.utf8.count + 5 + (members.isEmpty ? 0 : 1)
            // The last two share the rest, so that neither is too short.
            let share = rest > 4000 ? 2048 : rest > 2000 ? 1000 : rest - overhead
            let text = String(repeating: "x", count: share)
            members.append(Member(key: key, value: .text(text)))
            rest -= overhead + share
        }
        return .object(members)
    }
}
