internal import Blobs

// Room for bytes that come by no upload.
extension Uploads {
    /// Whether the disk has room for what is promised, and more is left free. Waits for the disk.
    ///
    /// - Throws: ``UploadError/insufficientStorage``.
    public func requireRoom() throws(UploadError) {
        do throws(DiskError) {
            try engine.requireRoom()
        } catch {
            throw UploadError(error)
        }
    }

    /// Whether an application may hold so many bytes beside its contents and its uploads.
    ///
    /// - Throws: ``UploadError/quotaExceeded(_:)``, ``UploadError/unavailable``.
    public func requireQuota(of application: String, for bytes: Int64) async throws(UploadError) {
        try await engine.requireQuota(of: application, besidesUploads: bytes)
    }
}
