internal import Blobs
internal import HTTP

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
        let conditions = Preconditions(
            tag: EntityTag(opaque: hexadecimal(content.sha256), isWeak: false),
            modified: content.completedAtMilliseconds / 1000)
        switch conditions.judge(request.fields) {
        case .failed: throw .preconditionFailed
        case .notModified: return notModified
        case .proceed: break
        }
        switch ranges(request, conditions) {
        case .whole: return whole(request)
        case .unsatisfiable: throw .unsatisfiable(size: content.size)
        case .parts(let parts):
            if let only = parts.first, parts.count == 1 { return try await part(only, request) }
            return try several(parts)
        }
    }

    /// Only `GET` has ranges, and only when the client's copy is this one.
    private func ranges(_ request: Request, _ conditions: Preconditions) -> ByteRanges {
        guard request.method == .get, request.fields.occurrences(of: "Range") == 1,
            let field = request.fields["Range"], conditions.allowsRange(request.fields)
        else { return .whole }
        return ByteRanges(field, size: content.size, limit: settings.maxRanges)
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

    private func part(
        _ range: Range<Int64>, _ request: Request
    ) async throws(DownloadError) -> Response {
        var fields = fields(for: request, mediaType)
        fields.add("Content-Range", contentRange(range))
        let isShort = range.count <= 8 << 20
        if isShort, wants("Want-Content-Digest", request, unlessSaid: false) {
            fields.add("Content-Digest", digest(try await sha256(of: range)))
        }
        return Response(.partialContent, fields: fields, content: bytes(range))
    }

    private func several(_ ranges: [Range<Int64>]) throws(DownloadError) -> Response {
        let boundary: String
        do throws(UploadError) {
            boundary = Base64.encodeForURL(try Randomness.bytes(21))
        } catch {
            throw .backend
        }
        var parts: [Content] = []
        for (number, range) in ranges.enumerated() {
            let head = """
                \(number == 0 ? "" : "\r\n")--\(boundary)\r
                Content-Type: \(mediaType)\r
                Content-Range: \(contentRange(range))\r
                \r

                """
            parts.append(.bytes(Array(head.utf8)))
            parts.append(bytes(range))
        }
        parts.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
        let fields = fields(for: nil, "multipart/byteranges; boundary=\(boundary)")
        return Response(.partialContent, fields: fields, content: .parts(parts))
    }

    private func bytes(_ range: Range<Int64>) -> Content {
        if range.isEmpty { return .none }
        return .file(
            BlobContent(file), offset: range.lowerBound, length: Int64(range.count))
    }

    private func contentRange(_ range: Range<Int64>) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.size)"
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
