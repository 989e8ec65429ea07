package import Blobs
internal import Bytes
internal import HTTP
internal import ObjectStore
internal import SystemSupport

/// The response to one download request.
struct DownloadResponse: Sendable {
    let content: StoredContent
    let ticket: DownloadTicket
    let source: OpenContent
    let settings: UploadSettings
    /// Seconds since 1970 UTC.
    let now: Int64

    func response(to request: Request) async throws(DownloadError) -> Response {
        if let elsewhere = redirection(of: request) { return elsewhere }
        // The stored file determines the size.
        guard source.holds(content.size) else { throw .backend }
        let representation = Representation(
            size: content.size, tag: tag, modified: content.completedAtMilliseconds / 1000)
        switch representation.selection(for: request, at: now, limit: settings.maxRanges) {
        case .failed: throw .preconditionFailed
        case .notModified: return notModified
        case .unsatisfiable: throw .unsatisfiable(representation.unsatisfiedRange)
        case .whole: return try await whole(request)
        case .parts(let ranges): return try await partial(ranges, request)
        }
    }

    private var notModified: Response {
        var fields = ResponseFields()
        addValidators(to: &fields)
        return Response(.notModified, fields: fields)
    }

    private func whole(_ request: Request) async throws(DownloadError) -> Response {
        var fields = fields(for: request, mediaType)
        addContentDigest(to: &fields, for: request)
        var generator = SystemRandomNumberGenerator()
        let everything = PartialContent(
            [0..<content.size], of: content.size, mediaType, using: &generator)
        return Response(.ok, fields: fields, content: try await sent(everything, request))
    }

    private func partial(
        _ ranges: [Range<Int64>], _ request: Request
    ) async throws(DownloadError) -> Response {
        var generator = SystemRandomNumberGenerator()
        let partial = PartialContent(ranges, of: content.size, mediaType, using: &generator)
        var fields = fields(for: request, partial.mediaType)
        if let range = partial.contentRange { fields.add("Content-Range", range) }
        try await addContentDigest(of: partial, to: &fields, for: request)
        return Response(.partialContent, fields: fields, content: try await sent(partial, request))
    }
}

extension DownloadResponse {
    /// The declared media type. A type that would make a header invalid was replaced when it was stored, and is
    /// replaced again here.
    private var mediaType: String { MediaType(untrusted: content.mediaType).text }

    /// The headers of every 200, 206 and response to `HEAD` (§9.1, §9.7).
    private func fields(for request: Request, _ type: String) -> ResponseFields {
        var fields = ResponseFields()
        fields.add("Content-Type", type)
        fields.add("Accept-Ranges", "bytes")
        addValidators(to: &fields)
        fields.addStoredContent(FileName(untrusted: content.fileName ?? ""), isInline: isInline)
        addReprDigest(to: &fields, for: request)
        fields.add(
            "X-Goog-Hash", FinalResponse.hashes(crc32c: content.crc32c, md5: content.md5))
        fields.add("X-Goog-Stored-Content-Length", "\(content.size)")
        fields.add("Cross-Origin-Resource-Policy", "cross-origin")
        return fields
    }

    /// Adds the headers that a 304 carries, too.
    private func addValidators(to fields: inout ResponseFields) {
        let age = max(0, min(ticket.expires - now, 86_400))
        fields.add("ETag", tag.text)
        fields.add("Last-Modified", HTTPDate.format(content.completedAtMilliseconds / 1000))
        fields.add("Cache-Control", "private, max-age=\(age), immutable")
    }

    /// Depends on the content only, not on the URL or the process (H102).
    private var tag: EntityTag { EntityTag(opaque: String(hexadecimal: content.sha256)) }

    /// Whether browsers show the content in place: only types that they do not execute.
    private var isInline: Bool {
        let essence = MediaType(untrusted: content.mediaType).essence
        return !ticket.forcesAttachment && DownloadResponse.shown.contains(essence)
    }

    private static let shown: Set = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp",
        "audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/wav", "audio/webm",
        "audio/flac", "video/mp4", "video/webm", "video/ogg", "video/quicktime", "text/plain",
    ]
}

extension DownloadResponse {
    /// Larger responses carry no digest that must be computed by an extra read, in bytes (§9.5).
    private static let digestLimit: Int64 = 8 << 20

    /// The known digests of the whole content.
    private var known: [BodyDigest] {
        let sha256 = BodyDigest(algorithm: .sha256, value: content.sha256)
        guard let sha512 = content.sha512 else { return [sha256] }
        return [sha256, BodyDigest(algorithm: .sha512, value: sha512)]
    }

    /// Adds the digests of the whole content to every 200, 206 and response to `HEAD`, except unwanted ones.
    private func addReprDigest(to fields: inout ResponseFields, for request: Request) {
        let preference = preference("Want-Repr-Digest", request)
        add(
            known.filter { digest in preference?.wants(digest.algorithm) ?? true },
            as: "Repr-Digest", to: &fields)
    }

    /// Adds the content digests of a complete response, as far as they are known.
    private func addContentDigest(to fields: inout ResponseFields, for request: Request) {
        let wanted = contentDigests(wantedBy: request)
        add(
            known.filter { digest in wanted.contains(digest.algorithm) }, as: "Content-Digest",
            to: &fields)
    }

    /// Adds the content digests of a partial response, including the headers of its parts. The bytes are read once
    /// more, unless there are too many.
    private func addContentDigest(
        of partial: PartialContent, to fields: inout ResponseFields, for request: Request
    ) async throws(DownloadError) {
        let wanted = contentDigests(wantedBy: request)
        guard !wanted.isEmpty, partial.length <= DownloadResponse.digestLimit else { return }
        var running = wanted.map { algorithm in algorithm.kind.init() }
        for piece in partial.pieces {
            switch piece {
            case .head(let bytes): Self.update(&running, bytes)
            case .range(let range):
                var reader = source.reader(range)
                do throws(StorageError) {
                    while let bytes = try await reader.next() { Self.update(&running, bytes) }
                } catch {
                    throw .backend
                }
            }
        }
        let digests = zip(wanted, running).map { algorithm, running in
            BodyDigest(algorithm: algorithm, value: running.digest)
        }
        add(digests, as: "Content-Digest", to: &fields)
    }

    private static func update(_ running: inout [any RunningDigest], _ bytes: [UInt8]) {
        for index in running.indices { running[index].update(bytes.span) }
    }

    private func contentDigests(wantedBy request: Request) -> [DigestAlgorithm] {
        guard request.method == .get, let preference = preference("Want-Content-Digest", request)
        else { return [] }
        return DigestAlgorithm.allCases.filter(preference.wants)
    }

    private func preference(_ name: FieldName, _ request: Request) -> DigestPreference? {
        request.fields.joined(name).flatMap(DigestPreference.init)
    }

    private func add(_ digests: [BodyDigest], as name: FieldName, to fields: inout ResponseFields) {
        guard !digests.isEmpty else { return }
        fields.add(name, BodyDigest.text(digests))
    }
}

extension DownloadResponse {
    /// The body: sent from a file by the kernel, or read from a bucket as fast as the client reads it (§9.8).
    private func sent(
        _ partial: PartialContent, _ request: Request
    ) async throws(DownloadError) -> Content {
        switch source {
        case .file(let file, _):
            return partial.content { range in
                if range.isEmpty { return .none }
                return .file(
                    BlobContent(file), offset: range.lowerBound, length: Int64(range.count))
            }
        // `HEAD` is answered from the catalog, without a request to the bucket.
        case .object where request.method == .head || partial.length == 0:
            return .written(length: partial.length) { _ in }
        case .object: return try await proxied(partial)
        }
    }

    private func proxied(_ partial: PartialContent) async throws(DownloadError) -> Content {
        let source = source
        // The first chunk is requested before the response begins, so that a failure can be reported.
        var first: ContentReader?
        for case .range(let range) in partial.pieces.prefix(2) {
            var reader = source.reader(range)
            do throws(StorageError) {
                try await reader.open()
            } catch {
                throw DownloadError(error)
            }
            first = reader
        }
        return .written(length: partial.length) { [first] writer in
            var opened = first
            for piece in partial.pieces {
                switch piece {
                case .head(let bytes): try await writer.write(bytes)
                case .range(let range):
                    var reader = opened ?? source.reader(range)
                    opened = nil
                    while let bytes = try await reader.next() { try await writer.write(bytes) }
                }
            }
        }
    }

    /// A redirect to a presigned URL of the bucket, which expires no later than this URL (§10.6); `nil` where the
    /// server sends the bytes.
    private func redirection(of request: Request) -> Response? {
        guard case .object(let object) = source, object.redirects, request.method == .get,
            content.size > 0
        else { return nil }
        let fields = fields(for: request, mediaType)
        let overrides = ResponseOverrides(
            type: mediaType, disposition: fields["Content-Disposition"],
            caching: fields["Cache-Control"])
        let url = object.store.presignedURL(
            object.key, seconds: Int(clamping: max(ticket.expires - now, 1)),
            overrides: overrides)
        var response = Response(.temporaryRedirect)
        response.fields.add("Location", url)
        response.fields.add("Cache-Control", "no-store")
        return response
    }
}

/// A blob for the transport: its descriptor stays open while it is sent.
package final class BlobContent: FileContent {
    private let file: BlobFile

    /// - Parameter file: Stays open as long as this.
    package init(_ file: BlobFile) { self.file = file }

    /// The descriptor of the blob.
    package var descriptor: Int32 { file.descriptor.number }
}
