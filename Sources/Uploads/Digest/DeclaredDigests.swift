internal import Bytes
internal import HTTP

/// The digests of the whole content that a client declares (§5.9).
struct DeclaredDigests: Sendable, Equatable {
    var md5: [UInt8]?
    var crc32c: UInt32?
    var sha256: [UInt8]?
    var sha512: [UInt8]?

    init() {}

    /// Parses the lines of `X-Goog-Hash`; unknown algorithms are ignored.
    init(lines: [String]) throws(UploadError) {
        for item in lines.flatMap({ $0.split(separator: ",") }) {
            let text = item.trimmed
            guard let sign = text.firstIndex(of: "=") else { continue }
            let value = text[text.index(after: sign)...].trimmed
            switch text[..<sign].trimmed.lowercased() {
            case "md5":
                try merge(md5: try DeclaredDigests.bytes(value, count: 16, in: "X-Goog-Hash"))
            case "crc32c":
                let bytes = try DeclaredDigests.bytes(value, count: 4, in: "X-Goog-Hash")
                try merge(crc32c: bytes.reduce(0) { $0 << 8 | UInt32($1) })
            default: continue
            }
        }
    }

    /// Adds the digests of another request; contradictions are refused.
    func merging(_ other: DeclaredDigests) throws(UploadError) -> DeclaredDigests {
        var both = self
        if let md5 = other.md5 { try both.merge(md5: md5) }
        if let crc32c = other.crc32c { try both.merge(crc32c: crc32c) }
        both.sha256 = other.sha256 ?? both.sha256
        both.sha512 = other.sha512 ?? both.sha512
        return both
    }

    /// Adds a digest of `Repr-Digest` (§7.12).
    mutating func add(_ digest: BodyDigest) {
        switch digest.algorithm {
        case .sha256: sha256 = digest.value
        case .sha512: sha512 = digest.value
        case .md5, .sha1, .crc32, .crc32c: break
        }
    }

    /// Decodes base64 of exactly that many bytes.
    static func bytes(
        _ text: some StringProtocol, count: Int, in field: String
    ) throws(UploadError) -> [UInt8] {
        guard let bytes = Base64.decode(text), bytes.count == count else {
            throw .invalid("\(field) must state a digest of \(count) bytes in padded base64.")
        }
        return bytes
    }

    private mutating func merge(md5 value: [UInt8]) throws(UploadError) {
        guard md5 == nil || md5 == value else {
            throw .invalid("Two different MD5 digests are declared for the content; declare one.")
        }
        md5 = value
    }

    private mutating func merge(crc32c value: UInt32) throws(UploadError) {
        guard crc32c == nil || crc32c == value else {
            throw .invalid(
                "Two different CRC-32C digests are declared for the content; declare one.")
        }
        crc32c = value
    }
}
