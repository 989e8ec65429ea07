/// Members of an identity were set one by one.
public struct IdentityPatched: Equatable, Sendable {
    /// Whose identity.
    public let user: UserID
    /// The operations in order; applying them again makes the same identity.
    public let patches: [IdentityPatch]

    /// What happened.
    public init(user: UserID, patches: [IdentityPatch]) {
        self.user = user
        self.patches = patches
    }
}
