/// Who sent a message: a user, or a service that has only a name (platform-api 5.2.1).
public enum Sender: Equatable, Sendable {
    case user(UserID)
    case named(String)

    /// A service.
    ///
    /// - Throws: `invalid("sender.name")` unless the name has 1 to 128 Unicode scalars, none of them
    ///   U+0000.
    public static func service(_ name: String) throws(Rejection) -> Sender {
        guard !name.isEmpty, name.unicodeScalars.prefix(129).count <= 128, name.isStorable else {
            throw .invalid("sender.name", .senderName)
        }
        return .named(name)
    }

    /// The user; `nil` for a service.
    public var userID: UserID? {
        switch self {
        case .user(let user): user
        case .named: nil
        }
    }
}
