internal import Blobs

// Uploads of a user that is erased.
extension Uploads {
    /// Cancels the uploads of a user, and deletes their records. The bytes of a content that is in use stay.
    ///
    /// - Returns: The number of deleted records.
    /// - Throws: When a record could not be read or deleted; calling it again continues.
    public func forgetAll(
        of user: String, in application: String
    ) async throws(UploadError) -> Int64 {
        var forgotten: Int64 = 0
        for entry in try await entries(of: application).named(user) {
            guard let upload = try await checkOut(entry.name) else { continue }
            defer { checkIn(entry.name) }
            do throws(UploadError) {
                try await upload.cancel()
            } catch .gone, .inUse {
                // It has ended; only its record names the user.
            }
            await forget(entry.name)
            forgotten += 1
        }
        return forgotten
    }

    /// The number of upload records of an application, and of those that name a user.
    public func countAll(
        of user: String, in application: String
    ) async throws(UploadError) -> (all: Int64, named: Int64) {
        let entries = try await entries(of: application)
        return (Int64(entries.count), Int64(entries.named(user).count))
    }

    private func entries(of application: String) async throws(UploadError) -> [UploadListEntry] {
        var entries: [UploadListEntry] = []
        for isOpen in [true, false] {
            var last: String?
            while true {
                let page: [UploadListEntry]
                do throws(StorageError) {
                    page = try await engine.records.list(
                        application, isOpen: isOpen, after: last, limit: 100)
                } catch {
                    throw UploadError(error)
                }
                entries += page
                guard page.count == 100, let content = page.last?.content else { break }
                last = content
            }
        }
        return entries
    }
}

extension [UploadListEntry] {
    fileprivate func named(_ user: String) -> [UploadListEntry] {
        filter { entry in
            entry.record?.owner.user.map { name in name.utf8.elementsEqual(user.utf8) } ?? false
        }
    }
}
