internal import Digests
internal import HTTP

extension Delivery {
    /// More than this is not read twice to say its digest (§9.5).
    static let digestLimit: Int64 = 8 << 20

    /// The digests of the whole content, as far as they are known.
    private var known: [BodyDigest] {
        let sha256 = BodyDigest(algorithm: .sha256, value: content.sha256)
        guard let sha512 = content.sha512 else { return [sha256] }
        return [sha256, BodyDigest(algorithm: .sha512, value: sha512)]
    }

    /// Adds the digests of the whole content, on every 200, 206 and `HEAD`, but for those unwanted.
    func addReprDigest(to fields: inout ResponseFields, for request: Request) {
        let preference = preference("Want-Repr-Digest", request)
        add(
            known.filter { digest in preference?.wants(digest.algorithm) ?? true },
            as: "Repr-Digest", to: &fields)
    }

    /// Adds the digests of an answer that carries everything: they are known, or not said.
    func addContentDigest(to fields: inout ResponseFields, for request: Request) {
        let wanted = contentDigests(wantedBy: request)
        add(
            known.filter { digest in wanted.contains(digest.algorithm) }, as: "Content-Digest",
            to: &fields)
    }

    /// Adds the digests of what is sent, with the heads of the parts; it is read for them, where nobody
    /// waits but this answer, unless it is too much.
    func addContentDigest(
        of partial: PartialContent, to fields: inout ResponseFields, for request: Request
    ) async throws(DownloadError) {
        let wanted = contentDigests(wantedBy: request)
        guard !wanted.isEmpty, partial.length <= Delivery.digestLimit else { return }
        var running = wanted.map { algorithm in algorithm.kind.init() }
        for piece in partial.pieces {
            switch piece {
            case .head(let octets): Self.update(&running, octets)
            case .range(let range):
                var reader = source.reader(range)
                do throws(StorageError) {
                    while let octets = try await reader.next() { Self.update(&running, octets) }
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

    private static func update(_ running: inout [any RunningDigest], _ octets: [UInt8]) {
        for index in running.indices { running[index].update(octets.span) }
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
