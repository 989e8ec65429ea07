public import Blobs
internal import HTTP
internal import ObjectStore
internal import SystemSupport

/// Complete content that is open for any number of readers.
enum OpenContent: Sendable {
    /// On the local disk, with the queue for reading it.
    case file(BlobFile, WorkQueue)
    /// In a bucket; whether the object exists is not known yet.
    case object(StoredObject)

    /// Whether the content has the expected size; an object is checked when it is read.
    func holds(_ size: Int64) -> Bool {
        switch self {
        case .file(let file, _): file.size == size
        case .object: true
        }
    }

    /// Begins to read everything.
    func reader() -> ContentReader {
        switch self {
        case .file(let file, _): reader(0..<file.size)
        case .object: ContentReader(self, nil)
        }
    }

    /// Begins to read a range.
    func reader(_ range: Range<Int64>) -> ContentReader { ContentReader(self, range) }
}

/// An object that holds content.
struct StoredObject: Sendable {
    let store: ObjectStore
    let key: ObjectKey
    /// Whether clients are redirected to the bucket.
    let redirects: Bool
}

/// Reads a range of complete content in chunks, no faster than the caller takes them.
struct ContentReader: Sendable {
    private let content: OpenContent
    /// The remaining range; `nil` for everything.
    private var rest: Range<Int64>?
    private var stream: ObjectStream?

    init(_ content: OpenContent, _ range: Range<Int64>?) {
        self.content = content
        rest = range
    }

    /// The next chunk, never empty; `nil` at the end of the range.
    ///
    /// - Throws: ``StorageError``, also when there are fewer bytes than the range has.
    mutating func next() async throws(StorageError) -> [UInt8]? {
        switch content {
        case .file(let file, let queue):
            guard let range = rest, !range.isEmpty else { return nil }
            let piece = try await Self.read(file, range, on: queue)
            rest = range.lowerBound + Int64(piece.count)..<range.upperBound
            return piece
        case .object(let object):
            if stream == nil { try await open(object) }
            do throws(ObjectStoreError) {
                return try await stream?.next()
            } catch {
                throw StorageError(error)
            }
        }
    }

    /// Requests the bytes of an object, unless that was done already.
    ///
    /// - Throws: ``StorageError/missing``, ``StorageError/lost`` when the object is shorter than the range.
    mutating func open() async throws(StorageError) {
        guard case .object(let object) = content, stream == nil else { return }
        try await open(object)
    }

    private mutating func open(_ object: StoredObject) async throws(StorageError) {
        // An empty range cannot be requested.
        if let rest, rest.isEmpty { return }
        let opened: ObjectStream
        do throws(ObjectStoreError) {
            opened = try await object.store.get(object.key, range: rest)
        } catch {
            throw StorageError(error)
        }
        if let rest, opened.range != rest {
            opened.cancel()
            throw .lost
        }
        stream = opened
    }

    private static func read(
        _ file: BlobFile, _ range: Range<Int64>, on queue: WorkQueue
    ) async throws(StorageError) -> [UInt8] {
        let count = Int(min(256 << 10, range.upperBound - range.lowerBound))
        do throws(DiskError) {
            return try await queue.run { () throws(DiskError) in
                let piece = try file.read(count, at: range.lowerBound)
                guard piece.count == count else {
                    throw DiskError(kind: .damaged, operation: "reading a content")
                }
                return piece
            }
        } catch {
            throw StorageError(error)
        }
    }
}

/// Access to complete content on the disk or in a bucket.
public struct ContentRepository: Sendable {
    let storage: any ContentStorage

    init(_ storage: any ContentStorage) { self.storage = storage }

    /// Opens the content of a folder on the local disk.
    public init(_ blobs: BlobFolder) { storage = DiskStorage(blobs: blobs) }
}
