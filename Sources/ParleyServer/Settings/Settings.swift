public import Delivery
public import HTTPTransport
public import Logging
public import Messaging
public import PlatformAPI
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
    public var webhooks = DeliverySettings()
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
