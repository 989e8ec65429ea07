internal import Blobs

/// Where complete contents lie, and how staged bytes become one (§10).
///
/// Bytes always arrive in a staged file on the local disk, so an offset is what is durable there,
/// whatever the storage. Nothing here knows an upload: names are those of contents.
protocol ContentStorage: Sendable {
    /// Makes a complete content of a staged file whose bytes are durable.
    ///
    /// Repeating it is harmless, also after a crash in the middle.
    func publish(_ content: Publication) async throws(StorageError)

    /// Makes what can be read of a staged archive, under the name of this attempt where others make it, too.
    func publish(_ archive: Archive, _ content: Publication) async throws(StorageError)

    /// Makes a complete content of a staged file that came from elsewhere and is durable.
    ///
    /// - Returns: False when other bytes lie under the content's name; they stay, and so does the file.
    func bring(_ staged: BlobName, as content: Publication) async throws(StorageError) -> Bool

    /// Whether a complete content of that name lies on this disk.
    func isPublishedHere(_ name: BlobName) async throws(StorageError) -> Bool

    /// Opens a complete content for reading; deleting it meanwhile harms no reader.
    ///
    /// - Throws: ``StorageError/missing`` when nothing of that name is complete.
    func open(_ name: BlobName) async throws(StorageError) -> OpenContent

    /// Deletes a complete content durably; repeating it is harmless.
    ///
    /// - Returns: Bytes that are free now, or once nobody reads them.
    func erase(_ name: BlobName) async throws(StorageError) -> Int64

    /// Who moves staged bytes on while more arrive; `nil` where they stay until all are there.
    func mover(of name: BlobName) -> PartMover?

    /// How many bytes of a content of this length are ever staged at the same time.
    func mostStaged(of length: Int64?) -> Int64

    /// Whether all staged bytes of a content can be read here, or it is published here already.
    func isWhollyStaged(_ name: BlobName) async throws(StorageError) -> Bool

    /// Hears that an upload has ended without a content; its staged file is somebody else's business.
    func giveUp(_ name: BlobName)

    /// Removes what uploads that are no more have left behind; part of the sweeper's work (§11.8).
    func tidy(isUnderWay: @Sendable (BlobName) -> Bool) async
}

/// A staged file that has all its bytes, and what a storage tells others of it.
struct Publication: Sendable {
    let name: BlobName
    /// In bytes.
    let size: Int64
    /// Validated.
    let mediaType: String
    /// Where it is known already.
    let sha256: [UInt8]?
}
