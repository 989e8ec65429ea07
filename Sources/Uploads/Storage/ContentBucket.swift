internal import Blobs
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
