public import Blobs

// How complete contents leave for another server, and come from one.
extension Contents {
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
    public func forEachPiece(
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
    public func bring(
        _ staged: BlobName, as content: BlobName, size: Int64, mediaType: String, sha256: [UInt8]
    ) async throws(UploadError) -> Bool {
        do throws(StorageError) {
            return try await storage.bring(
                staged,
                as: Publication(
                    name: content, size: size, mediaType: mediaType, sha256: sha256))
        } catch {
            throw UploadError(error)
        }
    }
}
