import Messaging

extension UserID {
    static let ana = UserID.named("ana")
    static let bo = UserID.named("bo")
    static let cy = UserID.named("cy")

    /// A user of a test; every name the tests use is legal.
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

    /// The conversation after the metadata part of a patch; as it is when that is refused.
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
