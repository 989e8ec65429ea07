public import Blobs
internal import Bytes

// How complete contents leave for another server, and come from one.
extension ContentRepository {
    /// Those of a server whose uploads have this folder, wherever they lie. Waits for the disk.
    ///
    /// - Parameter bucket: `nil` for the local disk.
    public init(
        of folder: String, in bucket: ContentBucket?, clock: UploadClock
    ) throws(DiskError) {
        let blobs = try BlobFolder(at: "\(folder)/blobs")
        guard let bucket else {
            self.init(blobs)
            return
        }
        self.init(
            BucketStorage(
                bucket, blobs: blobs, journals: try JournalFolder(at: "\(folder)/parts"),
                clock: clock, longest: .max))
    }

    /// Hands out all bytes of a content, a few at a time and no faster than they are taken.
    ///
    /// - Parameter size: How many there are; with fewer this fails.
    /// - Throws: ``UploadError/gone`` when there is no such content any more; what `take` throws.
    public func forEachChunk(
        of content: BlobName, size: Int64, _ take: ([UInt8]) async throws -> Void
    ) async throws {
        do {
            let open = try await storage.open(content)
            guard open.holds(size) else { throw StorageError.lost }
            var reader = open.reader(0..<size)
            while let piece = try await reader.next() { try await take(piece) }
        } catch let error as StorageError {
            throw error == .missing ? UploadError.gone : UploadError(error)
        }
    }

    /// Makes a complete content of a staged file that came from elsewhere and is durable.
    ///
    /// - Parameters:
    ///   - staged: Its name until now; the file has these bytes.
    ///   - content: The id it is served under.
    /// - Returns: False when other bytes lie there; they stay, and so does the file.
    public func publishStaged(
        _ staged: BlobName, as content: BlobName, size: Int64, mediaType: String, sha256: [UInt8]
    ) async throws(UploadError) -> Bool {
        do throws(StorageError) {
            return try await storage.publishStaged(
                staged,
                as: StagedContent(
                    name: content, size: size, mediaType: mediaType, sha256: sha256))
        } catch {
            throw UploadError(error)
        }
    }
}

/// A file that was made here and is read like a content, such as an export.
///
/// In a bucket each attempt to make it has a name of its own: a process that goes on with it after another
/// one has taken over replaces nothing. On a disk there is one process, and the file has the id's name.
public struct Archive: Sendable, Equatable {
    /// What it is called on a disk.
    public let name: BlobName
    /// What it is called in a bucket.
    public let attempt: BlobName

    /// Names one; `nil` for an id that names no file.
    ///
    /// - Parameter attempt: At least 12 bytes that are new with each attempt.
    public init?(id: String, attempt: [UInt8]) {
        guard let name = BlobName(id),
            let attempt = BlobName("\(id)-\(String(hexadecimal: Array(attempt.prefix(12))))")
        else { return nil }
        self.name = name
        self.attempt = attempt
    }
}

extension ContentRepository {
    /// Makes the staged file of an archive one that can be read, durably. Repeating it is harmless.
    public func publish(_ archive: Archive, size: Int64, sha256: [UInt8]) async throws {
        try await storage.publish(
            archive,
            StagedContent(
                name: archive.name, size: size, mediaType: "application/octet-stream",
                sha256: sha256))
    }

    /// Deletes what can be read of an archive, durably; repeating it is harmless.
    public func erase(_ archive: Archive) async throws {
        _ = try await storage.erase(archive.name)
        _ = try await storage.erase(archive.attempt)
    }
}

extension ContentStorage {
    /// Opens an archive, wherever it was made.
    func open(_ archive: Archive) async throws(StorageError) -> OpenContent {
        try await open(try await isPublishedHere(archive.name) ? archive.name : archive.attempt)
    }
}
