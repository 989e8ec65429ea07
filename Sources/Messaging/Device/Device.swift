/// A device of a user with the token under which a push provider reaches it (client-api §4.7).
public struct Device: Equatable, Sendable {
    /// The push provider of a device; raw values are the `type` of requests.
    public enum Kind: String, CaseIterable, Sendable {
        /// Apple Push Notification service.
        case apns
        /// Firebase Cloud Messaging, under its former name.
        case gcm
    }

    /// The id that the device chose; 1 to ``textLimit`` Unicode scalars.
    public let id: String
    /// The push provider.
    public let kind: Kind
    /// The token of the push provider; a secret.
    public let token: String
    /// The bundle of the app on Apple's systems.
    public let bundleID: String?
    /// The sender of Firebase.
    public let senderID: String?
    /// The version of the operating system.
    public let systemVersion: String?

    /// The maximum number of devices of a user; the least recently registered one is dropped.
    public static let limit = 25
    /// The maximum number of bytes of a token.
    public static let tokenLimit = 4096
    /// The maximum number of Unicode scalars of the other texts.
    public static let textLimit = 256

    /// All members.
    public init(
        id: String, kind: Kind, token: String, bundleID: String?, senderID: String?,
        systemVersion: String?
    ) {
        self.id = id
        self.kind = kind
        self.token = token
        self.bundleID = bundleID
        self.senderID = senderID
        self.systemVersion = systemVersion
    }
}
