internal import Blobs
internal import HTTP
internal import ObjectStore

extension Delivery {
    /// What is sent: out of a file by the kernel, out of a bucket as fast as the client takes it (§9.8).
    func sent(
        _ partial: PartialContent, _ request: Request
    ) async throws(DownloadError) -> Content {
        switch source {
        case .file(let file, _):
            return partial.content { range in
                if range.isEmpty { return .none }
                return .file(
                    BlobContent(file), offset: range.lowerBound, length: Int64(range.count))
            }
        // A HEAD is answered with what is known of the content; nobody asks the store.
        case .object where request.method == .head || partial.length == 0:
            return .written(length: partial.length) { _ in }
        case .object: return try await proxied(partial)
        }
    }

    private func proxied(_ partial: PartialContent) async throws(DownloadError) -> Content {
        let source = source
        // Before the head leaves it is known whether there is anything to send.
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
                case .head(let octets): try await writer.write(octets)
                case .range(let range):
                    var reader = opened ?? source.reader(range)
                    opened = nil
                    while let octets = try await reader.next() { try await writer.write(octets) }
                }
            }
        }
    }

    /// Where the bytes are, for who may fetch them there himself; no longer than this URL would open
    /// them here (§10.6).
    func redirection(of request: Request) -> Response? {
        guard case .object(let object) = source, object.redirects, request.method == .get,
            content.size > 0
        else { return nil }
        let fields = fields(for: request, mediaType)
        let overrides = ResponseOverrides(
            type: mediaType, disposition: fields["Content-Disposition"],
            caching: fields["Cache-Control"])
        let url = object.store.presigned(
            object.key, seconds: Int(clamping: max(ticket.expires - now, 1)),
            overrides: overrides)
        var response = Response(.temporaryRedirect)
        response.fields.add("Location", url)
        response.fields.add("Cache-Control", "no-store")
        return response
    }
}

/// A blob as the transport wants it: a descriptor that stays open while somebody sends.
private final class BlobContent: FileContent {
    private let file: BlobFile

    init(_ file: BlobFile) { self.file = file }

    var descriptor: Int32 { file.descriptor.number }
}
