internal import HTTPClient
internal import Locking

/// One bucket of a store that speaks Amazon's S3, or the part of it below a prefix (§10.2–10.4).
///
/// Every operation is tried again, with growing waits, while the store or the way to it fails for the
/// moment; what it throws is final for this call. Copies share connections and what is known of the
/// store's clock.
public struct ObjectStore: Sendable {
    let settings: ObjectStoreSettings
    let address: BucketAddress
    /// Who asks; others may do so later, see ``adopt(_:)``.
    private let credentials: Locked<Credentials>
    /// For requests that are over when the store has answered.
    let client: HTTPClient
    /// For answers that are taken at their readers' pace: however slow these are, they hold no connection
    /// that anything else waits for.
    let downloads: HTTPClient
    let clock: ObjectStoreClock
    /// By how many milliseconds the store's clock is ahead of ours; 0 until it complains.
    let offset: Locked<Int64>
    /// Open multipart uploads of which we know whether their parts carry their CRC-32C.
    let summed: Locked<[String: Bool]> = Locked([:])
    /// Where bodies are hashed, which keeps a core busy and waits for the disk.
    let hashing = WorkQueue("parley.store")

    /// How many streams may be open at once; the next one waits for the end of another.
    static let mostDownloads = 256

    /// Takes settings without a mistake; asks the store nothing, see ``check()``.
    ///
    /// - Throws: `invalid` with the first mistake; `unreachable` where libcurl is not installed.
    public init(_ settings: ObjectStoreSettings, clock: ObjectStoreClock) throws(ObjectStoreError) {
        if let mistake = settings.mistakes().first {
            throw ObjectStoreError(
                .invalid, "settings", words: "\(mistake.setting) \(mistake.rule)")
        }
        guard let address = BucketAddress(settings) else {
            throw ObjectStoreError(.invalid, "settings", words: "endpoint names no place")
        }
        self.settings = settings
        self.address = address
        self.clock = clock
        credentials = Locked(settings.credentials)
        offset = Locked(0)
        var manner = HTTPClientSettings()
        manner.authorities = settings.authorities
        do throws(HTTPClientError) {
            client = try HTTPClient(manner)
            manner.connectionsPerHost = Self.mostDownloads
            downloads = try HTTPClient(manner)
        } catch {
            throw ObjectStoreError(.unreachable, "settings", words: error.description)
        }
    }

    /// Asks with other credentials from now on, in all copies: those of a session end with it.
    public func adopt(_ credentials: Credentials) {
        self.credentials.withLock { known in known = credentials }
    }

    var signer: RequestSigner {
        RequestSigner(credentials: credentials.withLock { $0 }, region: settings.region)
    }

    /// The whole key, as the store knows it.
    func fullKey(_ key: ObjectKey) -> String { settings.prefix + key.text }

    /// What a key of the store's is called here; `nil` for others' keys. A store may look at the prefix
    /// it is asked for, or not.
    func key(_ whole: String, below folder: String = "") -> ObjectKey? {
        guard whole.utf8.starts(with: (settings.prefix + folder).utf8) else { return nil }
        return ObjectKey(String(Substring(whole.utf8.dropFirst(settings.prefix.utf8.count))))
    }

    /// Now, as far as we know by the store's clock, in milliseconds since 1970.
    func now() -> Int64 { clock.now() + offset.withLock { $0 } }
}
