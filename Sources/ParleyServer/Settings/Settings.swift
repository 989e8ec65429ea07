public import Console
public import HTTPTransport
public import Logging
public import Messaging
import MessagingStore
public import ObjectStore
public import PlatformAPI
public import Readers
public import Uploads

/// All settings of the server; ``Settings/table`` declares their names and bounds.
///
/// Defaults and limits are defined in the modules that use them.
public struct Settings: Sendable {
    /// The base of all URLs; `nil` means `http://` and the first address.
    public var publicURL: String?
    /// The folder of the database, uploads and contents.
    public var dataFolder = "data"
    /// Database connections for concurrent reads.
    public var readers = 2
    /// The URL of a PostgreSQL server, in libpq's form; `nil` for a file in ``dataFolder``.
    public var databaseURL: String?
    /// A file with that URL.
    public var databaseURLFile: String?
    /// The application to create at the start, together with its token; for containers.
    public var applicationID: String?
    /// The token of that application.
    public var applicationToken: String?
    /// A file with that token.
    public var applicationTokenFile: String?
    /// The lowest level that is logged.
    public var logLevel = Logger.Level.info
    /// Whether each request is logged.
    public var logsRequests = true
    /// Milliseconds for which events are kept; 0 for ever.
    public var eventRetention: Int64 = 30 * 86_400_000
    /// Limits of webhook requests.
    public var webhooks = WebhookSettings()
    /// Addresses and limits of HTTP.
    public var http = ServerConfiguration()
    /// Limits of conversations; ``messagingLimits`` adds the size of messages.
    public var messaging = MessagingLimits()
    /// Compression, rate limits, CORS and other settings of the API.
    public var api = PlatformSettings()
    /// The number of loops; `nil` for one per core.
    public var loops: Int?
    /// Addresses that serve metrics without a token; empty for none.
    public var metricsAddresses: [ListenAddress] = []
    /// The token with which the addresses of `http` serve metrics, too; `nil` disables that.
    public var metricsToken: String?
    /// A file with that token.
    public var metricsTokenFile: String?
    /// Milliseconds from the stop signal, when readiness turns false, to the end of listening.
    public var shutdownDelay: Int64 = 0
    /// Milliseconds that running requests have to finish.
    public var shutdownDeadline: Int64 = 30_000
    /// Addresses and limits of TLS; ``secureTransport`` adds the certificates.
    public var tls = TLSConfiguration()
    /// Files of certificates.
    public var tlsCertificates: [String] = []
    /// Files of their keys, in the same order.
    public var tlsKeys: [String] = []
    /// Milliseconds that browsers remember to use TLS only.
    public var strictTransportAge: Int64 = 0
    /// Addresses that redirect to ``publicURL``.
    public var redirectAddresses: [ListenAddress] = []
    /// Limits of uploads and downloads.
    public var uploads = UploadSettings()
    /// The base of upload and download URLs; `nil` for ``publicURL``.
    public var uploadPublicBase: String?
    /// The bucket of contents.
    public var bucket = BucketSettings()
    /// The operator console.
    public var console = ConsoleSettings()
    /// Addresses that alone serve the operator console; empty for those of ``http`` and ``tls``.
    public var consoleAddresses: [ListenAddress] = []
    /// Whether the documentation is served at `/docs`.
    public var servesDocumentation = true

    /// The default settings.
    public init() {
        // Uploads need more of a refused body to be read than HTTP's default (uploads §0).
        http.maximumLinger = 8 << 20
    }
}

/// The bucket for contents, if they are not stored in the data folder.
public struct BucketSettings: Sendable {
    /// The bucket's name; `nil` for no bucket.
    public var name: String?
    /// The store's URL; `nil` for Amazon's in ``region``.
    public var endpoint: String?
    /// The region in signatures.
    public var region = "us-east-1"
    /// The prefix of every key.
    public var prefix: String?
    /// Where the bucket's name is in URLs.
    public var style = AddressStyle.path
    /// The access key id.
    public var accessKey: String?
    /// A file with the access key id.
    public var accessKeyFile: String?
    /// The secret access key.
    public var secretKey: String?
    /// A file with the secret access key.
    public var secretKeyFile: String?
    /// The session token of temporary credentials.
    public var sessionToken: String?
    /// A file with the session token.
    public var sessionTokenFile: String?
    /// An AWS credentials file with these three.
    public var credentialsFile: String?
    /// A PEM file of CA certificates for the store; `nil` for the system's.
    public var authorities: String?
    /// Whether bodies are sent without their SHA-256.
    public var leavesPayloadUnsigned = false
    /// Whether parts are sent with their CRC-32C.
    public var sendsPartChecksums = false
    /// Whether downloads are redirected to the store.
    public var redirects = false

    /// Where the bytes of an upload are kept that do not fill a part yet.
    public var tail = UploadTail.auto

    /// No bucket.
    public init() {}
}

/// Where uploads to a bucket are kept while they arrive (uploads §10.5).
public enum UploadTail: String, Sendable, CaseIterable {
    /// Like `remote` if several processes may share the database, otherwise like `local`.
    case auto
    /// In the data folder: only the process with that folder can resume them.
    case local
    /// In the bucket and the database: any process can resume them.
    case remote
}

extension Settings {
    /// Whether any process may resume an upload.
    func sharesUploads(_ store: MessagingStore) -> Bool {
        switch bucket.tail {
        case .local: false
        // A database file has one process.
        case .auto, .remote: store.isShared
        }
    }
}
