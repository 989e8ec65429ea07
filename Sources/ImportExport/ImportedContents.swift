public import Blobs
internal import Bytes
internal import Messaging
public import MessagingStore
public import Uploads

/// Receives the bytes of contents during an import, from the lines before a record or from another
/// source.
///
/// Bytes are staged until their record arrives and published only if they have the digest in the
/// record. Staged bytes that were not published are discarded with this object. For one importer;
/// file access blocks the calling thread.
public final class ImportedContents {
    private struct Staged {
        let name: BlobName
        var size: Int64 = 0
        var hash = SHA256()
    }

    private let blobs: BlobFolder
    private let contents: ContentRepository
    private let requireSpace: () throws -> Void
    private let requireQuota: (Int64) async throws -> Void
    private let copyContent: ((StoredFile) async throws -> Void)?
    private var staged: [Content.ID: Staged] = [:]
    /// The content received last, whose bytes are not durable yet.
    private var open: (content: Content.ID, file: StagedFile)?

    /// Bytes after which free space is checked again.
    private static let step: Int64 = 16 << 20
    private var uncheckedBytes: Int64 = ImportedContents.step

    /// Creates an empty receiver.
    ///
    /// - Parameters:
    ///   - blobs: Where bytes are staged.
    ///   - contents: Where they are published.
    ///   - requireSpace: Throws when the disk is too full.
    ///   - requireQuota: Throws when the application may not hold that many more bytes.
    ///   - copyContent: Copies a content whose bytes are not in the lines; `nil` if there is no
    ///     other source.
    public init(
        by blobs: BlobFolder, to contents: ContentRepository,
        requireSpace: @escaping () throws -> Void = {},
        requireQuota: @escaping (Int64) async throws -> Void = { _ in },
        orElse copyContent: ((StoredFile) async throws -> Void)? = nil
    ) {
        self.blobs = blobs
        self.contents = contents
        self.requireSpace = requireSpace
        self.requireQuota = requireQuota
        self.copyContent = copyContent
    }

    deinit {
        // The next start removes what is left.
        for file in staged.values { try? blobs.discard(file.name) }
    }

    /// Whether a record has named every received content.
    var isEmpty: Bool { staged.isEmpty }

    /// Adds the next piece of a content.
    func add(_ piece: ArchivedBytes) throws {
        var file = try staged[piece.content] ?? begin(piece.content)
        guard piece.offset == file.size else {
            throw ArchiveLineError("at", "must be \(file.size), where the piece before it ends")
        }
        uncheckedBytes += Int64(piece.bytes.count)
        if uncheckedBytes >= Self.step {
            try requireSpace()
            uncheckedBytes = 0
        }
        if open?.content != piece.content {
            try commit()
            open = (piece.content, try blobs.stage(file.name))
        }
        try open?.file.write(piece.bytes.span, at: file.size)
        file.hash.update(piece.bytes.span)
        file.size += Int64(piece.bytes.count)
        staged[piece.content] = file
    }

    private func begin(_ content: Content.ID) throws -> Staged {
        guard staged.count < Message.partLimit else {
            throw ArchiveLineError("content", "is one too many before the record that names them")
        }
        // Not the content's own name: an upload of the same content may be in progress.
        guard let name = BlobName("import-\(content.uuid)") else {
            preconditionFailure("an id is a name")
        }
        // A crash may have left one.
        try blobs.discard(name)
        let new = Staged(name: name)
        staged[content] = new
        return new
    }

    private func commit() throws {
        try open?.file.commit()
        open = nil
    }

    /// Publishes the bytes of a content durably; nothing refers to them yet.
    ///
    /// - Parameter bytes: Bytes of contents that were published before and are not recorded yet.
    nonisolated(nonsending) func publish(_ file: StoredFile, besides bytes: Int64) async throws {
        guard let id = Content.ID(uuid: file.key.uuid), let taken = staged[id] else {
            guard let copyContent else {
                throw ArchiveLineError(
                    "contents.id",
                    "is \(file.key.uuid), whose bytes are neither here nor on the lines before")
            }
            return try await copyContent(file)
        }
        guard taken.size == file.size else {
            throw ArchiveLineError(
                "contents.size", "must be \(taken.size), the number of bytes on the lines before")
        }
        guard taken.hash.digest == file.sha256 else {
            throw ArchiveLineError(
                "contents.sha256", "is not that of the bytes on the lines before")
        }
        try await requireQuota(bytes + file.size)
        try commit()
        guard let name = BlobName(file.key.uuid) else { preconditionFailure("an id is a name") }
        let isOurs = try await contents.publishStaged(
            taken.name, as: name, size: file.size, mediaType: file.mimeType, sha256: file.sha256)
        guard isOurs else { throw ArchiveLineError("contents.id", "is that of other bytes here") }
        staged[id] = nil
    }
}
