internal import Blobs
internal import HTTPClient
internal import Locking
internal import ObjectStore

/// Contents in a bucket, and uploads whose every acknowledged byte lies there, too (§10.5, `remote-tail`).
///
/// What is staged on the local disk is a copy: whoever has none brings it here again, as far as no part
/// holds it.
struct SharedStorage: ContentStorage {
    let bucket: BucketStorage
    let queues: WorkQueues
    let shelf: SharedShelf

    var store: ObjectStore { bucket.store }
    var blobs: BlobFolder { bucket.disk.blobs }

    /// Where pieces lie, below the prefix of the store.
    static let folder = "tails/"

    /// The key of a piece.
    func key(_ piece: HeldParts.Piece, of name: BlobName) -> ObjectKey {
        // Made of digits and a name that was checked.
        guard let key = ObjectKey("\(SharedStorage.folder)\(name.text)/\(piece.id)") else {
            preconditionFailure("\(name)")
        }
        return key
    }

    /// Whose piece lies under a key; `nil` for objects of others.
    static func piece(_ key: ObjectKey) -> (name: BlobName, id: String)? {
        let words = key.text.split(separator: "/")
        guard words.count == 3, "\(words[0])/" == folder, let name = BlobName(words[1]) else {
            return nil
        }
        return (name, String(words[2]))
    }

    // MARK: Contents

    func publish(_ content: Publication) async throws(StorageError) {
        try await bucket.publish(content)
    }

    func publish(_ archive: Archive, _ content: Publication) async throws(StorageError) {
        try await bucket.publish(archive, content)
    }

    func bring(
        _ staged: BlobName, as content: Publication
    ) async throws(StorageError) -> Bool {
        try await bucket.bring(staged, as: content)
    }

    func isPublishedHere(_ name: BlobName) async throws(StorageError) -> Bool {
        try await bucket.isPublishedHere(name)
    }

    func open(_ name: BlobName) async throws(StorageError) -> OpenContent {
        try await bucket.open(name)
    }

    func erase(_ name: BlobName) async throws(StorageError) -> Int64 {
        try await bucket.erase(name)
    }

    // MARK: What arrives

    func mover(of name: BlobName) -> PartMover? { nil }

    func mostStaged(of length: Int64?) -> Int64 { bucket.mostStaged(of: length) }

    func isWhollyStaged(_ name: BlobName) async throws(StorageError) -> Bool { false }

    func giveUp(_ name: BlobName) {}

    /// Ends a multipart upload that no record names any more.
    func abort(_ upload: String, of name: BlobName) async {
        do throws(ObjectStoreError) {
            try await store.abort(bucket.key(name), upload: upload)
        } catch {
            // The sweeper finds what is left.
            bucket.onFault(error)
        }
    }

    /// Deletes pieces that no record names any more; nobody waits for it.
    func drop(_ pieces: [HeldParts.Piece], of name: BlobName) {
        guard !pieces.isEmpty else { return }
        let keys = pieces.map { piece in key(piece, of: name) }
        let (store, onFault) = (store, bucket.onFault)
        Task {
            do throws(ObjectStoreError) {
                for key in keys { try await store.delete(key) }
            } catch {
                onFault(error)
            }
        }
    }

    /// Does something with the staged file of a content, where it may be waited for.
    func work<Value: Sendable>(
        on name: BlobName, _ work: @escaping @Sendable (BlobFolder) throws(DiskError) -> Value
    ) async throws(StorageError) -> Value {
        let blobs = blobs
        do throws(DiskError) {
            return try await queues[name].run { () throws(DiskError) in try work(blobs) }
        } catch {
            throw .disk(error)
        }
    }
}
