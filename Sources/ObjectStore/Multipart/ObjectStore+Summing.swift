internal import HTTP
internal import Locking

// Parts that carry their CRC-32C (§10.4).
extension ObjectStore {
    /// What the store is told when such an upload begins.
    static let sum = (name: "x-amz-checksum-algorithm", value: "CRC32C")

    /// Whether the parts of an upload carry their sums: all do or none, as was said when it began.
    ///
    /// That may have been another process, with other settings; the store knows.
    func isSummed(_ key: ObjectKey, _ upload: String) async throws(ObjectStoreError) -> Bool {
        guard settings.sumsParts else { return false }
        if let known = summed.withLock({ summed in summed[upload] }) { return known }
        let isSummed = try await page(key, upload, after: 0, atMost: 1).isSummed
        note(upload, isSummed: isSummed)
        return isSummed
    }

    /// Remembers it of an upload; `nil` for one that is over.
    ///
    /// Of those that others end nobody tells us, so when there are many all are forgotten: to ask again
    /// is one request.
    func note(_ upload: String, isSummed: Bool?) {
        summed.withLock { summed in
            if summed.count >= Self.mostSummed { summed = [:] }
            summed[upload] = isSummed
        }
    }

    /// Of how many uploads it is remembered, at most.
    static let mostSummed = 1000

    /// Parts with the sums they carried.
    func summing(
        _ parts: [ObjectPart], of key: ObjectKey, _ upload: String
    ) async throws(ObjectStoreError) -> [ObjectPart] {
        guard try await isSummed(key, upload) else { return parts }
        var sums: [Int: String] = [:]
        for part in try await self.parts(key, upload: upload) { sums[part.number] = part.sum }
        return parts.map { part in
            var part = part
            part.sum = sums[part.number]
            return part
        }
    }
}
