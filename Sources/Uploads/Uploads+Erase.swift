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
        for isOpen in [true, false] {
            var last: String?
            repeat {
                let entries = try await page(of: application, isOpen: isOpen, after: last)
                for entry in entries.named(user) {
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
                last = entries.count == Self.pageSize ? entries.last?.content : nil
            } while last != nil
        }
        return forgotten
    }

    /// The number of upload records of an application, and of those that name a user.
    public func countAll(
        of user: String, in application: String
    ) async throws(UploadError) -> (all: Int64, named: Int64) {
        var (all, named): (Int64, Int64) = (0, 0)
        for isOpen in [true, false] {
            var last: String?
            repeat {
                let entries = try await page(of: application, isOpen: isOpen, after: last)
                all += Int64(entries.count)
                named += Int64(entries.named(user).count)
                last = entries.count == Self.pageSize ? entries.last?.content : nil
            } while last != nil
        }
        return (all, named)
    }

    private static let pageSize = 100

    /// Reads records of an application, in the order of their contents.
    private func page(
        of application: String, isOpen: Bool, after content: String?
    ) async throws(UploadError) -> [UploadListEntry] {
        do throws(StorageError) {
            return try await engine.records.list(
                application, isOpen: isOpen, after: content, limit: Self.pageSize)
        } catch {
            throw UploadError(error)
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
