public import FoundationEssentials
public import Logging
internal import SQL

/// How a client reaches its server, and where it stores what it knows.
public struct Configuration: Sendable {
    /// The base URL of the server, such as `https://chat.example.com`.
    public var server: URL
    /// The id of the application: a UUID, or `layer:///apps/production/{uuid}`.
    public var application: String
    /// A folder for the store of one user; it is created if it does not exist.
    public var store: URL
    /// How many messages of a conversation are received when it is seen first.
    public var history = History.unread
    /// Whether the server is told which messages have reached this device.
    public var reportsDelivery = true
    /// Which contents are downloaded without being asked for.
    public var autoDownload = AutoDownload()
    /// The most bytes of downloaded contents on this device; 0 for no limit. Above it the least recently read ones are
    /// deleted, down to four fifths.
    public var diskCapacity: Int64 = 0
    /// Whether uploads go on while the application is suspended.
    public var backgroundTransfers = BackgroundTransfers.off
    /// How many contents are uploaded at once: 1 to 100.
    public var concurrentUploads = 3 {
        didSet { concurrentUploads = min(max(1, concurrentUploads), Self.transferLimit) }
    }
    /// How many contents are downloaded at once: 1 to 100.
    public var concurrentDownloads = 6 {
        didSet { concurrentDownloads = min(max(1, concurrentDownloads), Self.transferLimit) }
    }
    private static let transferLimit = 100
    /// How many contents are transferred at once, at most.
    package var concurrentTransfers: Int { concurrentUploads + concurrentDownloads }
    /// Below this number of free bytes downloads wait (K48).
    var minimumFreeSpace: Int64 = 64 << 20
    /// How long a stream may send nothing at all before the feed is polled instead (K11). The server sends a comment every
    /// 25 s.
    var streamPatience = Duration.seconds(35)
    /// Called with each statement that the store prepares; for tests.
    var onPrepare: StatementObserver?
    /// Receives what the client logs; never message bodies, tokens or signed URLs.
    public var logger = Logger(label: "parley.kit")
    let credentials: Credentials

    enum Credentials: Sendable {
        case identityToken(@Sendable (_ nonce: String) async throws -> String)
        case development(UserID)
        case session(String, UserID)
    }

    /// A client of a user that the application's own backend authenticates.
    ///
    /// - Parameter identityToken: Requests an identity token with a nonce from the application's backend. It is called
    ///   whenever a session is needed, never twice at the same time.
    public init(
        server: URL, application: String, store: URL,
        identityToken: @escaping @Sendable (_ nonce: String) async throws -> String
    ) {
        self.init(server, application, store, .identityToken(identityToken))
    }

    /// A client of any user of a development server, which runs with `api.dev_login` and needs no identity tokens.
    public init(server: URL, application: String, store: URL, developmentUser user: UserID) {
        self.init(server, application, store, .development(user))
    }

    /// A client with a session that was begun elsewhere. When the server ends it, the client needs another one.
    public init(
        server: URL, application: String, store: URL, sessionToken: String, of user: UserID
    ) {
        self.init(server, application, store, .session(sessionToken, user))
    }

    private init(_ server: URL, _ application: String, _ store: URL, _ credentials: Credentials) {
        self.server = server
        self.application = application
        self.store = store
        self.credentials = credentials
    }
}

/// Which contents are downloaded without being asked for: small ones, and those of some types.
public struct AutoDownload: Hashable, Sendable {
    /// Contents up to this size in bytes are downloaded.
    public var maximumSize: Int64
    /// MIME types whose contents are downloaded whatever their size, such as `image/jpeg` or `image/*`, in any case.
    public var types: Set<String>

    /// A rule.
    public init(maximumSize: Int64 = 2048, types: Set<String> = []) {
        self.maximumSize = maximumSize
        self.types = types
    }

    /// Everything is downloaded.
    public static let everything = AutoDownload(maximumSize: .max)
    /// Nothing is downloaded.
    public static let nothing = AutoDownload(maximumSize: 0)

    /// Whether a content of this size and type is downloaded.
    func wants(size: Int64, _ mimeType: String) -> Bool {
        guard size > maximumSize else { return true }
        let essence = Self.essence(mimeType)
        let family = essence.prefix { character in character != "/" } + "/*"
        return types.contains { type in
            let type = Self.essence(type)
            return type == essence || type == family || type == "*/*"
        }
    }

    /// The type without its parameters, in lower case.
    private static func essence(_ mimeType: String) -> String {
        var type = mimeType.prefix { character in character != ";" }
        while type.last == " " { type.removeLast() }
        return type.lowercased()
    }
}

/// How many messages of a conversation a client receives when it sees it first, and of those sent while it was away.
public enum History: Hashable, Sendable {
    /// Those from the first unread one on.
    case unread
    /// All.
    case all
    /// The newest ones, at most this many.
    case newest(Int)

    /// The value of the query parameter `history`.
    var parameter: String {
        switch self {
        case .unread: "unread"
        case .all: "all"
        case .newest(let number): String(max(0, number))
        }
    }
}
