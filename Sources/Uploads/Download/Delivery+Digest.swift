internal import Base64
internal import Blobs
internal import HTTP
internal import Locking

extension Delivery {
    /// More than this is not read twice to say its digest (§9.5).
    private static let digestLimit: Int64 = 8 << 20

    /// Adds the digest of the whole content, on every 200, 206 and `HEAD`, unless it is unwanted.
    func addReprDigest(to fields: inout ResponseFields, for request: Request) {
        guard preference("Want-Repr-Digest", request)?.wants("sha-256") ?? true else { return }
        fields.add("Repr-Digest", text(content.sha256))
    }

    /// Adds the digest of what this answer carries, where it is wanted: of a part it has to be
    /// computed, of everything it is known.
    func addContentDigest(
        to response: inout Response, for request: Request
    ) async throws(DownloadError) {
        guard request.method == .get,
            preference("Want-Content-Digest", request)?.wants("sha-256") == true
        else { return }
        if response.status == .ok {
            response.fields.add("Content-Digest", text(content.sha256))
        } else if let length = response.content.length, length <= Delivery.digestLimit {
            response.fields.add("Content-Digest", text(try await digest(of: response.content)))
        }
    }

    private func preference(_ name: FieldName, _ request: Request) -> DigestPreference? {
        request.fields.joined(name).flatMap(DigestPreference.init)
    }

    private func text(_ sha256: [UInt8]) -> String { "sha-256=:\(Base64.encode(sha256)):" }

    /// Read where nobody waits for the disk but this answer.
    private func digest(of content: Content) async throws(DownloadError) -> [UInt8] {
        let file = file
        do throws(DiskError) {
            return try await queue.run { () throws(DiskError) in
                var hash = SHA256()
                try hash.update(content, from: file)
                return hash.digest
            }
        } catch {
            throw .backend
        }
    }
}

extension SHA256 {
    /// Takes the bytes of a content that is in memory, in a file, or in parts of both.
    fileprivate mutating func update(_ content: Content, from file: BlobFile) throws(DiskError) {
        switch content {
        case .none, .withheld, .stream: return
        case .bytes(let bytes): update(bytes.span)
        case .parts(let parts): for part in parts { try update(part, from: file) }
        case .file(_, let offset, let length):
            var place = offset
            while place < offset + length {
                let piece = try file.read(Int(min(256 << 10, offset + length - place)), at: place)
                guard !piece.isEmpty else { throw DiskError(kind: .damaged, operation: "read") }
                update(piece.span)
                place += Int64(piece.count)
            }
        }
    }
}
