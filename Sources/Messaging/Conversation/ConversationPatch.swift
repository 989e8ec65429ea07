/// One operation on a conversation (platform-api §4, §5.1.5).
public enum ConversationPatch: Equatable, Sendable {
    case addParticipant(UserID)
    case removeParticipant(UserID)
    case setParticipants([UserID])
    /// The path has the keys below `metadata`; it is empty for the whole tree.
    case setMetadata(path: [String], MetadataTree)
    /// The path has the keys below `metadata`; an empty path empties the tree (ruling 8).
    case deleteMetadata(path: [String])

    /// Whether it changes participants; what it does then depends on all of them.
    public var isOfParticipants: Bool {
        switch self {
        case .addParticipant, .removeParticipant, .setParticipants: true
        case .setMetadata, .deleteMetadata: false
        }
    }

    /// The `property` text of the operation, for rejections (ruling 5).
    public var property: String {
        switch self {
        case .addParticipant, .removeParticipant, .setParticipants:
            "participants"
        case .setMetadata(let path, _), .deleteMetadata(let path):
            (["metadata"] + path.map(Self.escaped)).joined(separator: ".")
        }
    }

    /// Returns a key as a path has it: a dot inside a key is written `\.` (R41).
    private static func escaped(_ key: String) -> String {
        key.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "\\.")
    }
}

extension Conversation {
    /// Returns the events of a patch: all operations are applied in order, then the result is compared with the former
    /// state (R48).
    ///
    /// - Returns: At most one event for participants, then at most one for metadata, so that a removed
    ///   participant still sees the former metadata (R14). None if nothing changes.
    /// - Throws: `objectDeleted`; `invalid("participants")` for more participants at the end than the
    ///   limits allow, if any is new (R19); `invalid` with the property of the operation for invalid metadata
    ///   (R40–R42).
    public func patching(
        _ patches: [ConversationPatch], _ limits: MessagingLimits, at now: Timestamp
    ) throws(Rejection) -> [Event] {
        guard deletedAt == nil else { throw .objectDeleted }
        let participants = try participants(after: patches, limits)
        let writes = try writes(of: patches, at: now)
        return [changing(to: participants, limits, at: now), changing(by: writes, at: now)]
            .compactMap(\.self)
    }

    private func participants(
        after patches: [ConversationPatch], _ limits: MessagingLimits
    ) throws(Rejection) -> Participants {
        var users = participants
        for patch in patches {
            switch patch {
            case .addParticipant(let user): users.add(user)
            case .removeParticipant(let user): users.remove(user)
            case .setParticipants(let named): users = Participants(named)
            case .setMetadata, .deleteMetadata: break
            }
        }
        // The limit may have been lowered: current participants may then stay and leave, but no user can be added.
        if !users.users.allSatisfy(participants.contains), users.count > limits.participants {
            throw .invalid(
                "participants", .participantCountAfterPatch,
                .init(amount: users.count, limit: limits.participants))
        }
        return users
    }

    /// Returns the writes of the metadata operations that change anything when applied in order.
    private func writes(
        of patches: [ConversationPatch], at now: Timestamp
    ) throws(Rejection) -> Metadata {
        // Later than all writes it replaces, even if the clock went back: the later commit wins (R47).
        let moment = max(now, metadata.latestWrite?.next ?? now)
        var after = metadata
        var writes = Metadata()
        for patch in patches {
            switch patch {
            case .setMetadata(let path, let tree):
                try MetadataTree.check(path: path, as: patch.property)
                if case .text = tree, path.isEmpty {
                    throw .invalid(patch.property, .metadataObject)
                }
                try tree.check(as: patch.property, level: path.count)
                guard after.tree(at: path) != tree else { continue }
                after.set(path, to: tree, at: moment)
                writes.set(path, to: tree, at: moment)
            case .deleteMetadata(let path):
                try MetadataTree.check(path: path, as: patch.property)
                if path.isEmpty {
                    after.set([], to: .empty, at: moment)
                    writes.set([], to: .empty, at: moment)
                } else if after.holds(path) {
                    after.delete(path, at: moment)
                    writes.delete(path, at: moment)
                }
            case .addParticipant, .removeParticipant, .setParticipants:
                break
            }
        }
        let view = after.view
        try view.checkSize(as: "metadata")
        // Stored deletions would accumulate, so too many are replaced by one write of the whole tree.
        return after.deletionCount > MetadataLimits.deletions
            ? Metadata(replacingAllBy: view, at: moment) : writes
    }

    private func changing(
        to users: Participants, _ limits: MessagingLimits, at now: Timestamp
    ) -> Event? {
        guard !users.isSameSet(as: participants) else { return nil }
        return .participantsChanged(
            ParticipantsChanged(
                conversation: id, participants: users, isWide: limits.isWide(users.count),
                added: users.users.filter { user in !participants.contains(user) },
                removed: participants.users.filter { user in !users.contains(user) },
                after: lastPosition, at: now))
    }

    private func changing(by writes: Metadata, at now: Timestamp) -> Event? {
        guard metadata.merging(writes).view != metadata.view else { return nil }
        return .metadataChanged(MetadataChanged(conversation: id, writes: writes, at: now))
    }
}
