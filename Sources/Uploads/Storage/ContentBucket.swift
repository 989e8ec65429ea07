public import Blobs
internal import Bytes
internal import HTTPClient
public import ObjectStore

/// A bucket that contents lie in, and how they leave it.
public struct ContentBucket: Sendable {
    let store: ObjectStore
    /// Whether whoever downloads is sent to the store itself.
    let redirects: Bool
    /// Where the records of uploads are kept that any process may continue; `nil` where they are this
    /// process's alone.
    let registry: (any UploadRegistry)?
    let onFault: @Sendable (any Error) -> Void

    /// Names one.
    ///
    /// - Parameters:
    ///   - registry: Keeps the records of uploads for several processes, which then keep every acknowledged
    ///     byte in the bucket; `nil` keeps records, and bytes that make no whole part, in the folder.
    ///   - redirects: Whether downloads are answered with 307 and a pre-signed URL of the store; otherwise
    ///     their bytes come by way of this server.
    ///   - onFault: Told of what the store could not do while nobody waited for it, for the log.
    public init(
        _ store: ObjectStore, redirects: Bool = false,
        registry: (any UploadRegistry)? = nil,
        onFault: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.store = store
        self.redirects = redirects
        self.registry = registry
        self.onFault = onFault
    }

    private static let folder = "content/"

    /// The key of a content.
    static func key(of name: BlobName) -> ObjectKey {
        // Its characters are checked, and it is short enough.
        guard let key = ObjectKey(folder + name.text) else { preconditionFailure("\(name)") }
        return key
    }

    /// Whose key it is; `nil` for objects of others.
    static func name(of key: ObjectKey) -> BlobName? {
        key.text.hasPrefix(folder) ? BlobName(key.text.dropFirst(folder.count)) : nil
    }
}

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
        let upload = try await store.createMultipartUpload(key, type: type)
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
        while let bytes = try await stream.next() { hash.update(bytes.span) }
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
        while let bytes = try await stream.next() {
            try file.write(bytes.span, at: position)
            position += Int64(bytes.count)
        }
        try file.commit()
        return true
    }
}

extension ClientBody {
    /// A part of a file, read while it is sent.
    ///
    /// - Parameter read: Of the file, by how many bytes at most and from where.
    static func bytes(
        _ range: Range<Int64>,
        read: @escaping @Sendable (_ count: Int, _ position: Int64) throws -> [UInt8]
    ) -> ClientBody {
        if range.isEmpty { return .bytes([]) }
        return .stored(Int64(range.count)) { count, position in
            try read(count, range.lowerBound + position)
        }
    }
}
