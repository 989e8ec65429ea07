public import Blobs
internal import Digests

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

extension Contents {
    /// Makes the staged file of an archive one that can be read, durably. Repeating it is harmless.
    public func publish(_ archive: Archive, size: Int64, sha256: [UInt8]) async throws {
        try await storage.publish(
            archive,
            Publication(
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
