internal import Blobs
internal import Locking

/// How far a content has come that may never become one.
public struct UploadProgress: Sendable, Equatable {
    /// Where it stands.
    public enum Stage: Sendable, Equatable {
        /// No byte has come yet.
        case awaited
        /// Bytes have come, and perhaps all of them are being checked.
        case arriving
        /// It is a content.
        case complete
        /// It never will be: bytes that were wrong or were lost, or nobody wanted them any more.
        case failed
        /// Its time was up.
        case expired
    }

    /// Where it stands.
    public let stage: Stage
    /// For whom it was created.
    public let owner: UploadOwner
    /// Durable leading bytes; once it has failed or expired, how many there were.
    public let received: Int64
    /// Its length, once that is known.
    public let length: Int64?

    init(_ record: UploadRecord) {
        stage =
            switch record.state {
            case .created: .awaited
            case .receiving, .finalizing: .arriving
            case .complete: .complete
            case .failed, .cancelled: .failed
            case .expired: .expired
            }
        owner = record.owner
        received = record.offset
        length = record.length
    }
}

extension Uploads {
    /// How far a content has come, without disturbing who sends it; `nil` for one that was never
    /// announced here, or whose end is forgotten.
    ///
    /// - Throws: When nobody could look (``UploadError/busy``, ``UploadError/backend``).
    public func progress(of contentID: String) async throws(UploadError) -> UploadProgress? {
        guard let content = BlobName(contentID) else { return nil }
        let name: BlobName?
        do throws(StorageError) {
            name = try await engine.records.name(of: content)
        } catch {
            throw UploadError(error)
        }
        guard let name, let upload = try await checkOut(name) else { return nil }
        defer { checkIn(name) }
        return UploadProgress(await upload.receivedStatus())
    }
}
