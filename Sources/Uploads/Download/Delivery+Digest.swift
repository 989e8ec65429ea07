internal import Base64
internal import Digests
internal import HTTP

extension Delivery {
    /// More than this is not read twice to say its digest (§9.5).
    static let digestLimit: Int64 = 8 << 20

    /// Adds the digest of the whole content, on every 200, 206 and `HEAD`, unless it is unwanted.
    func addReprDigest(to fields: inout ResponseFields, for request: Request) {
        guard preference("Want-Repr-Digest", request)?.wants("sha-256") ?? true else { return }
        fields.add("Repr-Digest", text(content.sha256))
    }

    /// Whether this answer is to say the digest of what it carries: of everything it is known, of a
    /// part it has to be computed.
    func wantsContentDigest(_ request: Request) -> Bool {
        request.method == .get
            && preference("Want-Content-Digest", request)?.wants("sha-256") == true
    }

    func addContentDigest(_ sha256: [UInt8], to fields: inout ResponseFields) {
        fields.add("Content-Digest", text(sha256))
    }

    private func preference(_ name: FieldName, _ request: Request) -> DigestPreference? {
        request.fields.joined(name).flatMap(DigestPreference.init)
    }

    private func text(_ sha256: [UInt8]) -> String { "sha-256=:\(Base64.encode(sha256)):" }

    /// Of what is sent, with the heads of the parts; read where nobody waits but this answer.
    func digest(of partial: PartialContent) async throws(DownloadError) -> [UInt8] {
        var hash = SHA256()
        for piece in partial.pieces {
            switch piece {
            case .head(let octets): hash.update(octets.span)
            case .range(let range):
                var reader = source.reader(range)
                do throws(StorageError) {
                    while let octets = try await reader.next() { hash.update(octets.span) }
                } catch {
                    throw .backend
                }
            }
        }
        return hash.digest
    }
}
