internal import Base64
internal import Digests
internal import HTTP

extension BodyDigest {
    /// Reads `Content-Digest` or `Repr-Digest` (RFC 9530): `sha-256=:…:, sha-512=:…:`.
    ///
    /// Other algorithms are ignored; the last of two equal keys counts.
    ///
    /// - Throws: ``UploadError/invalid(_:)`` for a known algorithm whose value is no digest of it:
    ///   who states one wants to have it checked.
    static func list(_ fields: Fields, _ name: FieldName) throws(UploadError) -> [BodyDigest] {
        guard let value = fields.joined(name) else { return [] }
        var digests: [BodyDigest] = []
        for member in value.split(separator: ",") {
            let text = member.trimmed
            let key = text.prefix { $0 != "=" }
            guard let algorithm = algorithms[String(key)] else { continue }
            let item = text.dropFirst(key.count + 1).prefix { $0 != ";" }
            guard item.utf8.count > 2, item.hasPrefix(":"), item.hasSuffix(":") else {
                throw .invalid("\(name) is not a dictionary of digests.")
            }
            let bytes = try DeclaredDigests.bytes(
                item.dropFirst().dropLast(), count: algorithm.kind.size, in: name.description)
            digests.removeAll { $0.algorithm == algorithm }
            digests.append(BodyDigest(algorithm: algorithm, value: bytes))
        }
        return digests
    }

    private static let algorithms: [String: DigestAlgorithm] = [
        "sha-256": .sha256, "sha-512": .sha512,
    ]
}
