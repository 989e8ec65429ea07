/// What two distinct conversations share exactly when they have the same participants (R3).
public struct DistinctKey: Hashable, Sendable {
    /// A digest of the participants, so that the key is short whatever their names.
    public let digest: [UInt8]

    /// The key of a set of users.
    ///
    /// - Parameter hash: SHA-256; given, because digests live outside this room.
    public init(_ participants: Participants, hash: ([UInt8]) -> [UInt8]) {
        digest = hash(Self.preimage(of: participants))
    }

    /// The users sorted by their bytes, each behind its length in eight bytes: no two sets of
    /// users write the same bytes, whatever characters their names hold.
    public static func preimage(of participants: Participants) -> [UInt8] {
        participants.users.sorted().flatMap { user in
            let length = UInt64(user.text.utf8.count)
            return (0..<8).map { place in UInt8(truncatingIfNeeded: length >> (56 - place * 8)) }
                + Array(user.text.utf8)
        }
    }
}
