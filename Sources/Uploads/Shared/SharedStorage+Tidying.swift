internal import Blobs
internal import Locking
internal import ObjectStore

extension SharedStorage {
    /// Ends what was begun in the store, and what was put there, for uploads that do not speak of it: a
    /// crash came between, or a process that had been overtaken did not know it yet (§11.8).
    func tidy(isUnderWay: @Sendable (BlobName) -> Bool) async {
        do {
            for try await open in store.multiparts() {
                guard let name = ContentBucket.name(of: open.key), isOld(open.initiated),
                    try await shelf.record(of: name)?.held?.upload != open.upload
                else { continue }
                try await store.abort(open.key, upload: open.upload)
            }
            for try await object in store.objects(below: SharedStorage.folder) {
                guard let piece = SharedStorage.piece(object.key), isOld(object.modified),
                    try await !isHeld(piece.id, of: piece.name)
                else { continue }
                try await store.delete(object.key)
            }
        } catch {
            // The next run finds the same.
            bucket.onFault(error)
        }
    }

    private func isHeld(_ id: String, of name: BlobName) async throws(StorageError) -> Bool {
        try await shelf.record(of: name)?.held?.pieces.contains { piece in
            piece.id.utf8.elementsEqual(id.utf8)
        } ?? false
    }

    private func isOld(_ moment: Int64?) -> Bool {
        moment.map(bucket.clock.isOrphaned(since:)) ?? false
    }

    /// Removes copies of bytes here that nobody has added to for long; who needs one makes it again.
    func tidyHere() async {
        let (clock, queue) = (bucket.clock, WorkQueue("parley.uploads.copies"))
        do throws(StorageError) {
            let blobs = blobs
            let old: [BlobName]
            do throws(DiskError) {
                old = try await queue.run { () throws(DiskError) in
                    try blobs.stagedEntries().filter { file in
                        clock.isOrphaned(since: file.modifiedAtMilliseconds)
                    }.compactMap { file in BlobName(file.name) }
                }
            } catch {
                throw .disk(error)
            }
            for name in old {
                try await work(on: name) { blobs throws(DiskError) in try blobs.discard(name) }
            }
        } catch {
            // The next run finds the same.
            bucket.onFault(error)
        }
    }
}
