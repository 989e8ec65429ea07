public import Blobs
internal import Digests
internal import HTTPClient
public import ObjectStore

// How contents that were complete elsewhere come into a bucket.
extension ContentBucket {
    /// Beyond it an object is stored in parts, so that what breaks off costs one of them.
    private static let longestPut: Int64 = 64 << 20

    /// Stores a complete content; one of the same name is replaced.
    public func store(
        _ file: BlobFile, as content: BlobName, type: String
    ) async throws(ObjectStoreError) {
        let key = Self.key(of: content)
        guard file.size > Self.longestPut else {
            _ = try await store.put(key, .bytes(0..<file.size, read: file.read), type: type)
            return
        }
        let upload = try await store.createMultipart(key, type: type)
        do throws(ObjectStoreError) {
            let length = PartSize.of(file.size, atMost: file.size)
            var parts: [ObjectPart] = []
            for start in stride(from: 0, to: file.size, by: Int(length)) {
                let part = ClientBody.bytes(
                    start..<min(start + length, file.size), read: file.read)
                parts.append(
                    try await store.putPart(key, upload: upload, number: parts.count + 1, part))
            }
            try await store.complete(key, upload: upload, parts)
        } catch {
            // At worst its parts stay until the store's own rules take them away.
            try? await store.abort(key, upload: upload)
            throw error
        }
    }

    /// Size of a complete content, in bytes; `nil` when the bucket has none of that name.
    public func size(of content: BlobName) async throws(ObjectStoreError) -> Int64? {
        try await store.head(Self.key(of: content))?.size
    }

    /// Reads all of a content.
    ///
    /// - Returns: Its SHA-256; `nil` when the bucket has none of that name.
    public func digest(of content: BlobName) async throws(ObjectStoreError) -> [UInt8]? {
        guard try await store.head(Self.key(of: content)) != nil else { return nil }
        let stream = try await store.get(Self.key(of: content))
        var hash = SHA256()
        while let octets = try await stream.next() { hash.update(octets.span) }
        return hash.digest
    }

    /// Reads all of a content into a file that is still to be published.
    ///
    /// - Returns: Whether the bucket has one of that name.
    public func stage(_ content: BlobName, in folder: BlobFolder) async throws -> Bool {
        guard try await store.head(Self.key(of: content)) != nil else { return false }
        let stream = try await store.get(Self.key(of: content))
        let file = try folder.stage(content)
        try file.truncate(to: 0)
        var position: Int64 = 0
        while let octets = try await stream.next() {
            try file.write(octets.span, at: position)
            position += Int64(octets.count)
        }
        try file.commit()
        return true
    }
}
