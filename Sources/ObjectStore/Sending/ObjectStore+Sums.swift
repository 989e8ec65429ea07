internal import Digests
internal import HTTPClient
internal import Locking

extension ObjectStore {
    /// How much of a stored body is read at once.
    private static let piece = 256 << 10
    /// Bodies in memory up to this size are hashed where they are.
    private static let short = 16 << 10

    /// What goes with a body: the SHA-256 the caller knows, or else reads it for, and a CRC-32C where
    /// it is wanted.
    func sums(
        of body: ClientBody, sha256: [UInt8]?, isSummed: Bool = false, in operation: String
    ) async throws(ObjectStoreError) -> BodySums {
        let known: PayloadDigest? =
            settings.leavesPayloadUnsigned
            ? .unsigned : sha256.map { sha256 in PayloadDigest.sha256(String(hexadecimal: sha256)) }
        let start = RunningSums(known: known, isSummed: isSummed)
        if known != nil, !isSummed { return start.end }
        switch body {
        case .none: return start.end
        case .octets(let octets) where octets.count <= Self.short: return start.over(octets)
        case .octets(let octets): return await hashing.run { start.over(octets) }
        case .stored(let count, let read):
            return try await hashing.run { () throws(ObjectStoreError) in
                try Self.sums(start, of: count, read, in: operation)
            }
        }
    }

    private static func sums(
        _ start: RunningSums, of count: Int64, _ read: (Int, Int64) throws -> [UInt8],
        in operation: String
    ) throws(ObjectStoreError) -> BodySums {
        var sums = start
        var position: Int64 = 0
        while position < count {
            let octets: [UInt8]
            do {
                octets = try read(Int(min(count - position, Int64(piece))), position)
            } catch {
                throw ObjectStoreError(.unreadableBody, operation, words: "\(error)")
            }
            guard !octets.isEmpty else {
                throw ObjectStoreError(
                    .unreadableBody, operation,
                    words: "the body ends at \(position) of \(count) octets")
            }
            sums.update(octets)
            position += Int64(octets.count)
        }
        return sums.end
    }
}
