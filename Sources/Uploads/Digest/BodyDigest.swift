internal import Bytes
internal import HTTP

/// The digest that a client states for its body; the request is then atomic (§4.4).
struct BodyDigest: Sendable, Equatable {
    let algorithm: DigestAlgorithm
    /// The digest; checksums in big-endian order.
    let value: [UInt8]
}

/// The digest algorithms that clients may use.
enum DigestAlgorithm: Sendable, Equatable, CaseIterable {
    case md5
    case sha1
    case sha256
    case sha512
    case crc32
    case crc32c

    /// The type that computes the digest while bytes arrive.
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
    /// Parses `Content-Digest` or `Repr-Digest` (RFC 9530): `sha-256=:…:, sha-512=:…:`.
    ///
    /// Other algorithms are ignored; the last of equal keys counts.
    ///
    /// - Throws: ``UploadError/invalid(_:)`` for a malformed digest of a known algorithm, because the client wants
    ///   it checked.
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

    /// The value of such a header.
    static func text(_ digests: [BodyDigest]) -> String {
        digests.compactMap { digest in
            digest.algorithm.key.map { key in "\(key)=:\(Base64.encode(digest.value)):" }
        }.joined(separator: ", ")
    }
}

extension DigestAlgorithm {
    /// The key in digest headers (RFC 9530 §5); `nil` for algorithms that are deprecated or not defined there.
    var key: String? {
        switch self {
        case .sha256: "sha-256"
        case .sha512: "sha-512"
        case .md5, .sha1, .crc32, .crc32c: nil
        }
    }

    /// `nil` for the key of an algorithm that is not checked.
    fileprivate init?(_ key: Substring) {
        guard let algorithm = Self.allCases.first(where: { $0.key?[...] == key })
        else { return nil }
        self = algorithm
    }
}
