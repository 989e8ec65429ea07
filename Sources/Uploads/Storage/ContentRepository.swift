public import Blobs
internal import Bytes

// Export to another server, and import from one.
extension ContentRepository {
    /// Opens the content of a server whose uploads have this folder. Waits for the disk.
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

    /// Reads all bytes of one content in chunks, no faster than the caller takes them.
    ///
    /// - Parameter size: The expected size; fails when there are fewer bytes.
    /// - Throws: ``UploadError/gone`` when the content does not exist any more; what `take` throws.
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

    /// Publishes a staged file that was imported and is durable.
    ///
    /// - Parameters:
    ///   - staged: The name of the staged file.
    ///   - content: The content id under which it will be served.
    /// - Returns: False when the content exists with other bytes; both are left as they are.
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

/// A generated file that is downloaded like content, such as an export.
///
/// In a bucket each attempt to generate it has its own name, so a process that was overtaken overwrites nothing. On
/// a disk, which one process uses, the file has the name of the id.
public struct ArchiveFile: Sendable, Equatable {
    /// The name on a disk.
    public let name: BlobName
    /// The name in a bucket.
    public let attempt: BlobName

    /// Creates the names of an archive; `nil` for an id that cannot be a file name.
    ///
    /// - Parameter attempt: At least 12 bytes that differ for each attempt.
    public init?(id: String, attempt: [UInt8]) {
        guard let name = BlobName(id),
            let attempt = BlobName("\(id)-\(String(hexadecimal: Array(attempt.prefix(12))))")
        else { return nil }
        self.name = name
        self.attempt = attempt
    }
}

extension ContentRepository {
    /// Publishes the staged file of an archive, durably; may be repeated.
    public func publish(_ archive: ArchiveFile, size: Int64, sha256: [UInt8]) async throws {
        try await storage.publish(
            archive,
            StagedContent(
                name: archive.name, size: size, mediaType: "application/octet-stream",
                sha256: sha256))
    }

    /// Deletes a published archive, durably; may be repeated.
    public func erase(_ archive: ArchiveFile) async throws {
        _ = try await storage.erase(archive.name)
        _ = try await storage.erase(archive.attempt)
    }
}

extension ContentStorage {
    /// Opens an archive under either of its names.
    func open(_ archive: ArchiveFile) async throws(StorageError) -> OpenContent {
        try await open(try await isPublishedHere(archive.name) ? archive.name : archive.attempt)
    }
}
