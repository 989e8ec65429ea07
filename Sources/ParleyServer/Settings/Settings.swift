public import HTTPTransport
public import Logging
public import Messaging
import MessagingStore
public import ObjectStore
public import PlatformAPI
public import Readers
public import Uploads

/// Everything an operator can choose; ``Settings/table`` says how each is named and bounded.
///
/// The limits themselves live in the rooms that keep them, and so do their defaults.
public struct Settings: Sendable {
    /// The base of every URL handed out; `nil` is `http://` and the first address listened on.
    public var publicURL: String?
    /// The folder that holds the database, uploads and contents.
    public var dataFolder = "data"
    /// Database connections that read at the same time.
    public var readers = 2
    /// The PostgreSQL server that has the database, as libpq reads it; `nil` for a file in ``dataFolder``.
    public var databaseURL: String?
    /// A file that holds such a URL.
    public var databaseURLFile: String?
    /// The application made at start when missing, and its token; for containers.
    public var applicationID: String?
    /// Its secret.
    public var applicationToken: String?
    /// A file that holds such a token.
    public var applicationTokenFile: String?
    /// The lowest level that is logged.
    public var logLevel = Logger.Level.info
    /// Whether each request gets a line.
    public var logsRequests = true
    /// Milliseconds that the log keeps an event; 0 for ever.
    public var eventRetention: Int64 = 30 * 86_400_000
    /// How webhooks are sent what they are sent.
    public var webhooks = WebhookSettings()
    /// Where to listen, and the limits of HTTP.
    public var http = ServerConfiguration()
    /// How many participants a conversation may have; ``messagingLimits`` adds the size of messages.
    public var messaging = MessagingLimits()
    /// What the API compresses, decodes and lets browsers do.
    public var api = PlatformSettings()
    /// Loops of the server; `nil` is one per core.
    public var loops: Int?
    /// Where metrics are served to everybody who reaches it; empty for nowhere.
    public var metricsAddresses: [ListenAddress] = []
    /// Who brings it gets the metrics from the addresses of `http`, too; `nil` for nobody.
    public var metricsToken: String?
    /// A file that holds such a token.
    public var metricsTokenFile: String?
    /// Milliseconds between the stop signal, when readiness turns false, and the end of listening.
    public var shutdownDelay: Int64 = 0
    /// Milliseconds that running requests have to finish.
    public var shutdownDeadline: Int64 = 30_000
    /// Where and how TLS is spoken; ``transport`` adds the certificates.
    public var tls = TLSConfiguration()
    /// Files of certificates, and in the same order those of their keys.
    public var tlsCertificates: [String] = []
    /// Their keys.
    public var tlsKeys: [String] = []
    /// Milliseconds that browsers remember to come by TLS only.
    public var strictTransportAge: Int64 = 0
    /// Where everybody is sent to ``publicURL``.
    public var redirectAddresses: [ListenAddress] = []
    /// Limits of uploads and downloads.
    public var uploads = UploadSettings()
    /// The base of upload and download URLs; `nil` is ``publicURL``.
    public var uploadPublicBase: String?
    /// Where contents lie.
    public var bucket = BucketSettings()

    /// All defaults.
    public init() {
        // Uploads want more of a refused body read than HTTP asks for (uploads §0).
        http.maximumLinger = 8 << 20
    }
}

/// The bucket that contents lie in, where they do not lie in the data folder.
public struct BucketSettings: Sendable {
    /// Its name; `nil` for no bucket.
    public var name: String?
    /// The store's URL; `nil` for Amazon's of ``region``.
    public var endpoint: String?
    /// What requests are signed for.
    public var region = "us-east-1"
    /// What every key begins with.
    public var prefix: String?
    /// Where the bucket's name stands in URLs.
    public var style = AddressStyle.path
    /// Who asks.
    public var accessKey: String?
    /// A file that holds such a key.
    public var accessKeyFile: String?
    /// What proves it.
    public var secretKey: String?
    /// A file that holds such a key.
    public var secretKeyFile: String?
    /// Of credentials that are good for a session only.
    public var sessionToken: String?
    /// A file that holds such a token.
    public var sessionTokenFile: String?
    /// A file that holds the three, as Amazon's tools write it.
    public var credentialsFile: String?
    /// A PEM file of the authorities that vouch for the store; `nil` for the system's.
    public var authorities: String?
    /// Whether bodies are sent without their SHA-256.
    public var leavesPayloadUnsigned = false
    /// Whether parts carry their CRC-32C.
    public var sendsPartChecksums = false
    /// Whether whoever downloads is sent to the store.
    public var redirects = false

    /// Where bytes of uploads lie that make no whole part.
    public var tail = UploadTail.auto

    /// No bucket.
    public init() {}
}

/// Where uploads to a bucket are kept while they arrive (uploads §10.5).
public enum UploadTail: String, Sendable, CaseIterable {
    /// As remote where several processes may share a database.
    case auto
    /// In the data folder: the process that has it goes on with them.
    case local
    /// In the bucket and the database: any process goes on with them.
    case remote
}

extension Settings {
    /// Whether any process may go on with an upload.
    func sharesUploads(_ store: MessagingStore) -> Bool {
        switch bucket.tail {
        case .local: false
        // On a file one process has the database to itself.
        case .auto, .remote: store.isShared
        }
    }
}
