import Messaging
import TestSupport

extension UserID {
    static let ana = UserID.named("ana")
    static let bo = UserID.named("bo")
    static let cy = UserID.named("cy")

    /// A user id for a name, which must be valid.
    static func named(_ name: String) -> UserID {
        UserID(name) ?? .ana
    }
}

extension Identifier {
    /// The same identifier for the same number.
    static func sample(_ number: UInt128) -> Identifier {
        .v7(at: Timestamp(milliseconds: 0), random: number)
    }
}

extension Conversation {
    static func sample(
        _ users: [UserID] = [.ana, .bo], isDistinct: Bool = false, metadata: MetadataTree = .empty,
        lastPosition: Position = .start, lastSentAt: Timestamp? = nil
    ) -> Conversation {
        Conversation(
            id: .sample(1), createdAt: Timestamp(milliseconds: 0),
            participants: Participants(users), isDistinct: isDistinct,
            metadata: Metadata(metadata, at: Timestamp(milliseconds: 0)),
            lastPosition: lastPosition, lastSentAt: lastSentAt)
    }

    /// The conversation after the metadata operations of a patch; unchanged when they are rejected.
    func applying(_ patches: [ConversationPatch], at moment: Timestamp) -> Conversation {
        var changed = self
        for case .metadataChanged(let change)
            in (try? patching(patches, MessagingLimits(), at: moment)) ?? []
        {
            changed.metadata = metadata.merging(change.writes)
        }
        return changed
    }

    /// The tree after one operation at a later moment.
    func tree(after patches: ConversationPatch...) -> MetadataTree {
        applying(patches, at: Timestamp(milliseconds: 1000)).metadata.view
    }
}

extension SeededGenerator {
    mutating func users() -> [UserID] {
        let names = ["ana", "bo", "cy", "é", "e\u{301}", "a", "an", "team/42", "7", "\u{1F600}"]
        return list(0...6) { random in names[random.number(0...names.count - 1)] }.compactMap(
            UserID.init)
    }

    mutating func intervals() -> IntervalSet {
        IntervalSet(
            list(0...6) { random in
                let low = Int64(random.number(1...40))
                return low...(low + Int64(random.number(0...5)))
            })
    }

    mutating func tree(depth: Int = 3) -> MetadataTree {
        guard depth > 0, number(0...2) > 0 else {
            return .text(["", "x", "y", "zz"][number(0...3)])
        }
        return .object(
            Set(list(0...3) { random in random.key() }).sorted().map { key in
                MetadataTree.Member(key: key, value: tree(depth: depth - 1))
            })
    }

    mutating func object() -> MetadataTree {
        let tree = tree()
        if case .text = tree { return .empty }
        return tree
    }

    mutating func key() -> String { ["a", "b", "c"][number(0...2)] }

    mutating func path() -> [String] { list(1...3) { random in random.key() } }

    mutating func patches() -> [ConversationPatch] {
        list(0...5) { random in
            switch random.number(0...5) {
            case 0: .deleteMetadata(path: random.path())
            case 1: .setMetadata(path: [], random.object())
            default: .setMetadata(path: random.path(), random.tree(depth: 2))
            }
        }
    }

    /// Metadata after a few patches, at times that other generated metadata has too.
    mutating func metadata() -> Metadata {
        var conversation = Conversation.sample(metadata: object())
        for _ in 0..<number(0...4) {
            let moment = Timestamp(milliseconds: Int64(number(0...6)))
            let changed = conversation.applying(patches(), at: moment)
            conversation = changed
        }
        return conversation.metadata
    }
}
