internal import Digests
internal import HTTPClient
internal import Locking

extension ObjectStore {
    /// How much of a stored body is hashed at once.
    private static let hashed = 256 << 10
    /// Bodies in memory up to this size are hashed where they are.
    private static let short = 16 << 10

    /// What the signature says of a body: the SHA-256 the caller knows, or else reads it for.
    func payload(
        of body: ClientBody, sha256: [UInt8]?, in operation: String
    ) async throws(ObjectStoreError) -> PayloadDigest {
        if settings.leavesPayloadUnsigned { return .unsigned }
        if let sha256 { return .sha256(String(hexadecimal: sha256)) }
        switch body {
        case .none: return .empty
        case .octets(let octets) where octets.count <= Self.short:
            return PayloadDigest(of: octets)
        case .octets(let octets):
            return await hashing.run { PayloadDigest(of: octets) }
        case .stored(let count, let read):
            return try await hashing.run { () throws(ObjectStoreError) in
                try Self.digest(of: count, read, in: operation)
            }
        }
    }

    private static func digest(
        of count: Int64, _ read: (Int, Int64) throws -> [UInt8], in operation: String
    ) throws(ObjectStoreError) -> PayloadDigest {
        var digest = SHA256()
        var position: Int64 = 0
        while position < count {
            let piece: [UInt8]
            do {
                piece = try read(Int(min(count - position, Int64(hashed))), position)
            } catch {
                throw ObjectStoreError(.unreadableBody, operation, words: "\(error)")
            }
            guard !piece.isEmpty else {
                throw ObjectStoreError(
                    .unreadableBody, operation,
                    words: "the body ends at \(position) of \(count) octets")
            }
            digest.update(piece.span)
            position += Int64(piece.count)
        }
        return .sha256(String(hexadecimal: digest.digest))
    }
}
