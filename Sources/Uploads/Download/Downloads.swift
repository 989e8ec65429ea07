internal import Blobs
public import HTTP
internal import SystemSupport

/// The download resource: complete content under signed URLs that expire (§9).
///
/// Keeps no state per request; any number of downloads run in parallel.
public final class Downloads: Sendable {
    /// The route for logs and metrics.
    public static let route = "/download/{content}/{filename}"
    static let methods = "GET, HEAD, OPTIONS"

    private let storage: any ContentStorage
    private let catalog: any DownloadCatalog
    private let settings: UploadSettings
    private let keys: Locked<SigningKeys>
    private let base: PublicBaseURL
    private let clock: UploadClock
    private let queues = WorkQueuePool("parley.downloads", count: 4)

    /// Creates the resource.
    ///
    /// - Parameter publicBase: The base of download URLs.
    public init(
        contents: ContentRepository, catalog: any DownloadCatalog,
        settings: UploadSettings = UploadSettings(), keys: SigningKeys, publicBase: PublicBaseURL,
        clock: UploadClock
    ) {
        storage = contents.storage
        self.catalog = catalog
        self.settings = settings
        self.keys = Locked(keys)
        self.clock = clock
        base = publicBase
    }

    /// Signs with other keys from now on; URLs stay valid as long as their key is among them.
    public func replaceKeys(_ keys: SigningKeys) { self.keys.withLock { $0 = keys } }

    /// A signed URL that opens content without any other credentials.
    ///
    /// Its expiry is rounded up to a quarter of an hour, so that lists requested shortly after each other carry the
    /// same URL and browser caches work. It is valid for at least half an hour, because clients treat a URL as
    /// expired ten minutes before.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970 UTC.
    ///   - saving: Whether browsers save the content instead of showing it (`dl=1`).
    ///   - request: The request whose response carries the URL; `nil` for none.
    public func signedURL(
        content: String, fileName: String? = nil, at now: Int64, saving: Bool = false,
        for request: Request? = nil
    ) -> (url: String, expiresAtMilliseconds: Int64) {
        let quarter: Int64 = 900_000
        let keys = keys.withLock { $0 }
        let end = now + max(keys.lifetime(at: now) ?? settings.downloadURLTTL, 1_800_000)
        let expires = (end + quarter - 1) / quarter * quarter
        let ticket = DownloadTicket(
            content: content,
            fileName: FileName(untrusted: fileName ?? "").percentEncoded,
            expires: expires / 1000, forcesAttachment: saving)
        let base = request.map(base.of) ?? base.text
        return (base + ticket.signed(by: keys, at: now), expires)
    }

    /// Signs the URLs of contents as of a moment, so that an object that is written again has the same URLs.
    ///
    /// - Parameter moment: Milliseconds since 1970 UTC.
    public func signer(
        at moment: Int64
    ) -> @Sendable (_ content: String) -> (url: String, expiresAtMilliseconds: Int64) {
        { [self] content in signedURL(content: content, at: moment) }
    }
}

extension Downloads {
    /// Answers every request under `/download`.
    ///
    /// The signature is verified before anything is looked up.
    public func answer(to request: Request) -> Answer {
        // The origin of the content is not known yet, and a refusal reveals nothing. Every page may read it, so
        // that it can request a new URL (§9.6).
        let open = CORSPolicy.everyOrigin
        let ticket: DownloadTicket
        do throws(DownloadTicket.Refusal) {
            let now = clock.now() / 1000
            ticket = try DownloadTicket(
                request.target, keys: keys.withLock { $0 }, now: now,
                leeway: settings.downloadLeeway / 1000)
        } catch {
            if request.method == .options {
                let response = open.options(request, methods: Downloads.methods)
                return Answer(Downloads.route, response)
            }
            let error = error == .expired ? DownloadError.expired : .forged
            return Answer(
                Downloads.route, finish(error.response(to: request, settings), open, request))
        }
        guard [.get, .head, .options].contains(request.method) else {
            return Answer(
                Downloads.route,
                finish(DownloadError.method.response(to: request, settings), open, request))
        }
        return Answer(Downloads.route) { [self] _ in await response(to: request, ticket) }
    }

    private func response(to request: Request, _ ticket: DownloadTicket) async -> Response {
        var origin = CORSPolicy.transfers(recorded: nil, settings)
        do {
            guard let name = BlobName(ticket.content),
                let content = try await catalog.content(ticket.content)
            else { throw DownloadError.notFound }
            origin = CORSPolicy.transfers(recorded: content.origin, settings)
            if request.method == .options {
                return origin.options(request, methods: Downloads.methods)
            }
            let delivery = DownloadResponse(
                content: content, ticket: ticket, source: try await open(name, content.archive),
                settings: settings, now: clock.now() / 1000)
            return finish(try await delivery.response(to: request), origin, request)
        } catch let error as DownloadError {
            return finish(error.response(to: request, settings), origin, request)
        } catch {
            return finish(DownloadError.backend.response(to: request, settings), origin, request)
        }
    }

    private func open(
        _ name: BlobName, _ archive: ArchiveFile?
    ) async throws(DownloadError) -> OpenContent {
        do throws(StorageError) {
            if let archive { return try await storage.open(archive) }
            return try await storage.open(name)
        } catch {
            throw DownloadError(error)
        }
    }

    private func finish(
        _ response: Response, _ origin: CORSPolicy, _ request: Request
    ) -> Response {
        var response = response
        origin.add(to: &response.fields, for: request)
        return response
    }
}

extension Downloads {
    /// Reads a whole content into memory, without blocking the calling thread.
    ///
    /// - Parameters:
    ///   - id: The id of complete content (a UUID in lower case); the caller has checked its size.
    ///   - make: Converts the bytes, on a queue that may be blocked.
    /// - Returns: `nil` when the content cannot be read now; clients can then use its URL.
    public func read<Value: Sendable>(
        _ id: String, _ make: @escaping @Sendable ([UInt8]) -> Value
    ) async -> Value? {
        guard let name = BlobName(id) else { return nil }
        var bytes: [UInt8] = []
        do throws(StorageError) {
            var reader = try await storage.open(name).reader()
            while let piece = try await reader.next() { bytes += piece }
        } catch {
            return nil
        }
        return await queues[name].run { [bytes] in make(bytes) }
    }
}
