internal import Blobs
internal import Locking
internal import ObjectStore

extension BucketStorage {
    /// Ends what was begun in the store for uploads that are no more (§11.8).
    func tidy(isUnderWay: @Sendable (BlobName) -> Bool) async {
        do {
            try await endForsaken(isUnderWay)
            try await abortUnknown()
        } catch {
            // The next run finds the same.
            onFault(error)
        }
    }

    /// Journals whose uploads have ended while the store could not be told.
    private func endForsaken(_ isUnderWay: @Sendable (BlobName) -> Bool) async throws {
        let journals = journals
        let entries = try await WorkQueue("parley.bucket.tidy").run { () throws(DiskError) in
            try journals.entries()
        }
        for entry in entries {
            guard let name = BlobName(entry.name), !isUnderWay(name),
                clock.isOrphaned(since: entry.modifiedAtMilliseconds)
            else { continue }
            try await mover(for: name).giveUp()
        }
    }

    /// Uploads in the store that no journal speaks of: a crash came between the two.
    private func abortUnknown() async throws {
        for try await open in store.multiparts() {
            guard let name = ContentBucket.name(of: open.key), let initiated = open.initiated,
                clock.isOrphaned(since: initiated)
            else { continue }
            let known = try await mover(for: name).known()?.upload
            if known != open.upload { try await store.abort(open.key, upload: open.upload) }
        }
    }
}
