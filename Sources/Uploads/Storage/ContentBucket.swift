public import Blobs
internal import Bytes
internal import HTTPClient
public import ObjectStore

/// A bucket for content, and how downloads get the content.
public struct ContentBucket: Sendable {
    let store: ObjectStore
    /// Whether downloads are redirected to the bucket.
    let redirects: Bool
    /// The records of uploads that any process may continue; `nil` where this process has them for itself.
    let registry: (any UploadRegistry)?
    let onFault: @Sendable (any Error) -> Void

    /// Configures a bucket.
    ///
    /// - Parameters:
    ///   - registry: Stores upload records for several processes; every acknowledged byte is then kept in the
    ///     bucket. With `nil`, records and bytes that fill no part are kept in the folder.
    ///   - redirects: Whether downloads are answered with 307 and a presigned URL of the bucket; otherwise this
    ///     server sends the bytes.
    ///   - onFault: Called with failures of the bucket that no request reports, for the log.
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

    /// The object key of a content.
    static func key(of name: BlobName) -> ObjectKey {
        // Its characters are checked, and it is short enough.
        guard let key = ObjectKey(folder + name.text) else { preconditionFailure("\(name)") }
        return key
    }

    /// The content that a key names; `nil` for other objects.
    static func name(of key: ObjectKey) -> BlobName? {
        key.text.hasPrefix(folder) ? BlobName(key.text.dropFirst(folder.count)) : nil
    }
}

// Import of content that was complete elsewhere.
extension ContentBucket {
    /// Larger objects are stored in parts, so that an interruption costs one part only.
    private static let longestPut: Int64 = 64 << 20

    /// Stores complete content, replacing content of the same name.
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
            // If this fails, the parts stay until a lifecycle rule of the bucket removes them.
            try? await store.abort(key, upload: upload)
            throw error
        }
    }

    /// The size of complete content in bytes; `nil` when the bucket does not have it.
    public func size(of content: BlobName) async throws(ObjectStoreError) -> Int64? {
        try await store.head(Self.key(of: content))?.size
    }

    /// Reads a whole content.
    ///
    /// - Returns: Its SHA-256; `nil` when the bucket does not have it.
    public func digest(of content: BlobName) async throws(ObjectStoreError) -> [UInt8]? {
        guard try await store.head(Self.key(of: content)) != nil else { return nil }
        let stream = try await store.get(Self.key(of: content))
        var hash = SHA256()
        while let bytes = try await stream.next() { hash.update(bytes.span) }
        return hash.digest
    }

    /// Downloads a content into a staged file.
    ///
    /// - Returns: Whether the bucket has the content.
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
    /// A range of a file, read while it is sent.
    ///
    /// - Parameter read: Reads at most that many bytes of the file from a position.
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
