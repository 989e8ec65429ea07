/// A user's block list changed.
public struct BlocksChanged: Equatable, Sendable {
    /// Whose list it is (R30).
    public let owner: UserID
    /// Who is blocked now and was not before, in the order of their bytes.
    public let added: [UserID]
    /// Who was blocked before and is not now, in the order of their bytes.
    public let removed: [UserID]
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(owner: UserID, added: [UserID], removed: [UserID], at moment: Timestamp) {
        self.owner = owner
        self.added = added
        self.removed = removed
        at = moment
    }
}
