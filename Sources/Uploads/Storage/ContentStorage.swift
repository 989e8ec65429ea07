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

    /// Opens a complete content for reading; deleting it meanwhile harms no reader.
    ///
    /// - Throws: ``StorageError/missing`` when nothing of that name is complete.
    func open(_ name: BlobName) async throws(StorageError) -> OpenContent

    /// Deletes a complete content durably; repeating it is harmless.
    ///
    /// - Returns: Bytes that are free now, or once nobody reads them.
    func erase(_ name: BlobName) async throws(StorageError) -> Int64
}

/// A staged file that has all its bytes, and what a storage tells others of it.
struct Publication: Sendable {
    let name: BlobName
    /// In bytes.
    let size: Int64
    /// Validated.
    let mediaType: String
}
