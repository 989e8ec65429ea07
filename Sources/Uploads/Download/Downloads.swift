internal import Blobs
public import HTTP
internal import Locking

/// The download resource: complete contents under signed URLs that expire (§9).
///
/// Takes no lock and keeps no state: any number of downloads run side by side.
public final class Downloads: Sendable {
    /// The route for logs and metrics.
    public static let route = "/download/{content}/{filename}"
    static let methods = "GET, HEAD, OPTIONS"

    let storage: any ContentStorage
    let catalog: any DownloadCatalog
    let settings: UploadSettings
    let keys: Locked<SigningKeys>
    let base: PublicBase
    let clock: UploadClock
    let queues = WorkQueues("parley.downloads", count: 4)

    /// Puts the resource together.
    ///
    /// - Parameter publicBase: What download URLs begin with.
    public init(
        contents: Contents, catalog: any DownloadCatalog,
        settings: UploadSettings = UploadSettings(), keys: SigningKeys, publicBase: PublicBase,
        clock: UploadClock
    ) {
        storage = contents.storage
        self.catalog = catalog
        self.settings = settings
        self.keys = Locked(keys)
        self.clock = clock
        base = publicBase
    }

    /// Signs with other keys from now on; URLs signed before open as long as their key is among them.
    public func adopt(_ keys: SigningKeys) { self.keys.withLock { $0 = keys } }

    /// A URL that opens a content without any other credential.
    ///
    /// Its end is rounded up to a quarter of an hour, so that listings made shortly after each
    /// other hand out the same URL and a browser's cache works; it lives half an hour at least,
    /// because a client takes a URL for expired ten minutes before its time.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970 UTC.
    ///   - saving: Browsers save what it opens, also what they could show (`dl=1`).
    ///   - request: The request in whose answer it stands; `nil` for none.
    public func signedURL(
        content: String, fileName: String?, at now: Int64, saving: Bool = false,
        for request: Request? = nil
    ) -> (url: String, expiresAtMilliseconds: Int64) {
        let quarter: Int64 = 900_000
        let end = now + max(settings.downloadURLTTL, 1_800_000)
        let expires = (end + quarter - 1) / quarter * quarter
        let ticket = DownloadTicket(
            content: content,
            fileName: FileName(untrusted: fileName ?? "").percentEncoded,
            expires: expires / 1000, forcesAttachment: saving)
        let base = request.map(base.of) ?? base.text
        return (base + ticket.signed(by: keys.withLock { $0 }), expires)
    }
}
