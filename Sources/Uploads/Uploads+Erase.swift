internal import Blobs

// Uploads of a user that is erased.
extension Uploads {
    /// Cancels the uploads of a user, and deletes their records. The bytes of a content that is in use stay.
    ///
    /// - Returns: The number of deleted records.
    /// - Throws: When records could not be read, or an upload could not be canceled; calling it again continues.
    public func removeUploads(
        of user: String, in application: String
    ) async throws(UploadError) -> Int64 {
        var removed: Int64 = 0
        try await forEachPage(of: application) { entries throws(UploadError) in
            for entry in entries.named(user) {
                guard let upload = try await checkOut(entry.name) else { continue }
                defer { checkIn(entry.name) }
                do throws(UploadError) {
                    try await upload.cancel()
                } catch .gone {
                    // It has ended, and has no bytes any more, or it has expired and is not swept yet.
                    if await upload.record.mayExpire, await !upload.expire() {
                        throw UploadError.locked
                    }
                } catch .inUse {
                    // The content has ended the upload; only its record names the user.
                }
                await forget(entry.name)
                removed += 1
            }
        }
        return removed
    }

    /// The number of upload records of an application, and of those that name a user.
    public func countUploads(
        of user: String, in application: String
    ) async throws(UploadError) -> (all: Int64, named: Int64) {
        var (all, named): (Int64, Int64) = (0, 0)
        try await forEachPage(of: application) { entries in
            all += Int64(entries.count)
            named += Int64(entries.named(user).count)
        }
        return (all, named)
    }

    /// Reads all records of an application, those of open uploads first, by descending content id.
    private func forEachPage(
        of application: String,
        _ body: ([UploadListEntry]) async throws(UploadError) -> Void
    ) async throws(UploadError) {
        let pageSize = 100
        for isOpen in [true, false] {
            var last: String?
            repeat {
                let entries: [UploadListEntry]
                do throws(StorageError) {
                    entries = try await engine.records.list(
                        application, isOpen: isOpen, after: last, limit: pageSize)
                } catch {
                    throw UploadError(error)
                }
                try await body(entries)
                last = entries.count == pageSize ? entries.last?.content : nil
            } while last != nil
        }
    }
}

extension [UploadListEntry] {
    fileprivate func named(_ user: String) -> [UploadListEntry] {
        filter { entry in
            entry.record?.owner.user.map { name in name.utf8.elementsEqual(user.utf8) } ?? false
        }
    }
}
