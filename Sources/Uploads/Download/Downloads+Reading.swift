internal import Blobs
internal import Locking

extension Downloads {
    /// Reads a whole content into memory; the caller's thread does not wait for the disk.
    ///
    /// - Parameters:
    ///   - id: Of a complete content (a UUID in lower case), of a size the caller has judged.
    ///   - make: What to make of the bytes, on a queue where it may take long.
    /// - Returns: `nil` when it cannot be read now; its URL is there for then.
    public func read<Value: Sendable>(
        _ id: String, _ make: @escaping @Sendable ([UInt8]) -> Value
    ) async -> Value? {
        guard let name = BlobName(id) else { return nil }
        var bytes: [UInt8] = []
        do throws(StorageError) {
            var reader = try await storage.open(name).reader()
            while let piece = try await reader.next() { bytes += piece }
        } catch {
            return nil
        }
        return await queues[name].run { [bytes] in make(bytes) }
    }
}
