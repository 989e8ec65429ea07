internal import Bytes
internal import HTTP

/// What a client says the digest of its body is; the request is then all or nothing (§4.4).
struct BodyDigest: Sendable, Equatable {
    let algorithm: DigestAlgorithm
    /// The digest; checksums with their highest byte first.
    let value: [UInt8]
}

/// How a body can be checked.
enum DigestAlgorithm: Sendable, Equatable, CaseIterable {
    case md5
    case sha1
    case sha256
    case sha512
    case crc32
    case crc32c

    /// What takes it while the body arrives.
    var kind: any RunningDigest.Type {
        switch self {
        case .md5: MD5.self
        case .sha1: SHA1.self
        case .sha256: SHA256.self
        case .sha512: SHA512.self
        case .crc32: CRC32.self
        case .crc32c: CRC32C.self
        }
    }
}

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
            guard let algorithm = DigestAlgorithm(key) else { continue }
            let item = text.dropFirst(key.count + 1).prefix { $0 != ";" }
            guard item.utf8.count > 2, item.hasPrefix(":"), item.hasSuffix(":") else {
                throw .invalid(
                    "\(name) must be a list of digests such as sha-256=:BASE64:, separated by commas."
                )
            }
            let bytes = try DeclaredDigests.bytes(
                item.dropFirst().dropLast(), count: algorithm.kind.size, in: name.description)
            digests.removeAll { $0.algorithm == algorithm }
            digests.append(BodyDigest(algorithm: algorithm, value: bytes))
        }
        return digests
    }

    /// The same the other way: what such a field says.
    static func text(_ digests: [BodyDigest]) -> String {
        digests.compactMap { digest in
            digest.algorithm.key.map { key in "\(key)=:\(Base64.encode(digest.value)):" }
        }.joined(separator: ", ")
    }
}

extension DigestAlgorithm {
    /// What digest fields call it (RFC 9530 §5); `nil` for those that are deprecated there, or unknown.
    var key: String? {
        switch self {
        case .sha256: "sha-256"
        case .sha512: "sha-512"
        case .md5, .sha1, .crc32, .crc32c: nil
        }
    }

    /// The one of a key; `nil` for a key that nothing is checked by.
    fileprivate init?(_ key: Substring) {
        guard let algorithm = Self.allCases.first(where: { $0.key?[...] == key })
        else { return nil }
        self = algorithm
    }
}
