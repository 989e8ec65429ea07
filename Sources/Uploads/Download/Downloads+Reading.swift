internal import Blobs
internal import Locking

extension Downloads {
    /// Reads a whole content into memory; the caller's thread does not wait for the disk.
    ///
    /// - Parameters:
    ///   - id: Of a complete content (a UUID in lower case), of a size the caller has judged.
    ///   - make: What to make of the bytes, where they are read.
    /// - Returns: `nil` when it cannot be read now; its URL is there for then.
    public func read<Value: Sendable>(
        _ id: String, _ make: @escaping @Sendable ([UInt8]) -> Value
    ) async -> Value? {
        guard let name = BlobName(id) else { return nil }
        let blobs = blobs
        return try? await queues[name].run { () throws(DiskError) in
            let file = try blobs.open(name)
            return make(try file.read(Int(file.size), at: 0))
        }
    }
}
