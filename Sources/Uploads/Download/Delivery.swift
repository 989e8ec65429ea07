internal import Base64
internal import Blobs
internal import HTTP
internal import Locking

/// One content on its way to one client.
struct Delivery: Sendable {
    let content: StoredContent
    let ticket: DownloadTicket
    let file: BlobFile
    let settings: UploadSettings
    /// Seconds since 1970 UTC.
    let now: Int64
    let queue: WorkQueue

    func response(to request: Request) async throws(DownloadError) -> Response {
        // The file is what is sent, so its size is what is said.
        guard file.size == content.size else { throw .backend }
        let representation = Representation(
            size: content.size, tag: tag, modified: content.completedAtMilliseconds / 1000)
        switch representation.selection(for: request, at: now, limit: settings.maxRanges) {
        case .failed: throw .preconditionFailed
        case .notModified: return notModified
        case .unsatisfiable: throw .unsatisfiable(representation.unsatisfiedRange)
        case .whole: return whole(request)
        case .parts(let ranges): return try await partial(ranges, request)
        }
    }

    private var notModified: Response {
        var fields = ResponseFields()
        addValidators(to: &fields)
        return Response(.notModified, fields: fields)
    }

    private func whole(_ request: Request) -> Response {
        var fields = fields(for: request, mediaType)
        if request.method == .get, wants("Want-Content-Digest", request, unlessSaid: false) {
            fields.add("Content-Digest", digest(content.sha256))
        }
        return Response(.ok, fields: fields, content: bytes(0..<content.size))
    }

    private func partial(
        _ ranges: [Range<Int64>], _ request: Request
    ) async throws(DownloadError) -> Response {
        var generator = SystemRandomNumberGenerator()
        let partial = PartialContent(
            ranges, of: content.size, mediaType, using: &generator, slice: bytes)
        var fields = fields(for: request, partial.mediaType)
        if let place = partial.contentRange { fields.add("Content-Range", place) }
        if let only = ranges.first, ranges.count == 1, only.count <= 8 << 20,
            wants("Want-Content-Digest", request, unlessSaid: false)
        {
            fields.add("Content-Digest", digest(try await sha256(of: only)))
        }
        return Response(.partialContent, fields: fields, content: partial.content)
    }

    private func bytes(_ range: Range<Int64>) -> Content {
        if range.isEmpty { return .none }
        return .file(
            BlobContent(file), offset: range.lowerBound, length: Int64(range.count))
    }

    private func sha256(of range: Range<Int64>) async throws(DownloadError) -> [UInt8] {
        let file = file
        do throws(DiskError) {
            return try await queue.run { () throws(DiskError) in
                var hash = SHA256()
                var place = range.lowerBound
                while place < range.upperBound {
                    let piece = try file.read(
                        Int(min(256 << 10, range.upperBound - place)), at: place)
                    guard !piece.isEmpty else { throw DiskError(kind: .damaged, operation: "read") }
                    hash.update(piece.span)
                    place += Int64(piece.count)
                }
                return hash.digest
            }
        } catch {
            throw .backend
        }
    }
}

/// A blob as the transport wants it: a descriptor that stays open while somebody sends.
private final class BlobContent: FileContent {
    private let file: BlobFile

    init(_ file: BlobFile) { self.file = file }

    var descriptor: Int32 { file.descriptor.number }
}
