public import FoundationEssentials

/// The profile of a user.
public struct Identity: Queryable, Hashable {
    /// The user.
    public let id: UserID
    /// The name to show; `nil` if the user has none.
    public let displayName: String?
    /// The first name.
    public let firstName: String?
    /// The last name.
    public let lastName: String?
    /// The e-mail address.
    public let emailAddress: String?
    /// The phone number.
    public let phoneNumber: String?
    /// A public key, in the form that the application uses.
    public let publicKey: String?
    /// The URL of a picture.
    public let avatarURL: URL?
    /// Texts by their keys; always a ``Metadata/object(_:)``.
    public let metadata: Metadata
    /// Whether this user follows the identity, so that its changes are received.
    public let isFollowed: Bool
}
