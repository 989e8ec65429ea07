public import Blobs
internal import Bytes
internal import Messaging
public import MessagingStore
public import Uploads

/// Bytes of contents on their way to where they are served: from the lines before a record, or from
/// elsewhere.
///
/// They are staged until the record comes, read once while they are written, and published only with
/// the digest that the record says. What was staged and not published goes with this object. One
/// importer at a time; the disk is waited for on his thread.
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
    private let bringElsewhere: ((StoredFile) async throws -> Void)?
    private var staged: [Content.ID: Staged] = [:]
    /// The one that came last, whose bytes are not durable yet.
    private var open: (content: Content.ID, file: StagedFile)?

    /// Room is asked for each time so many bytes have come.
    private static let step: Int64 = 16 << 20
    private var unasked: Int64 = ImportedContents.step

    /// Nothing has come yet.
    ///
    /// - Parameters:
    ///   - blobs: Where bytes are staged.
    ///   - contents: Where they are served.
    ///   - requireSpace: Throws when the disk is too full for more.
    ///   - requireQuota: Throws when the application may not hold so many bytes more.
    ///   - bringElsewhere: Brings a content whose bytes stand on no line; `nil` where there is nothing
    ///     else to bring them from.
    public init(
        by blobs: BlobFolder, to contents: ContentRepository,
        requireSpace: @escaping () throws -> Void = {},
        requireQuota: @escaping (Int64) async throws -> Void = { _ in },
        orElse bringElsewhere: ((StoredFile) async throws -> Void)? = nil
    ) {
        self.blobs = blobs
        self.contents = contents
        self.requireSpace = requireSpace
        self.requireQuota = requireQuota
        self.bringElsewhere = bringElsewhere
    }

    deinit {
        // What stays is removed by the next start.
        for file in staged.values { try? blobs.discard(file.name) }
    }

    /// Whether everything that has come has been named.
    var isEmpty: Bool { staged.isEmpty }

    /// Takes the next piece of a content.
    func add(_ piece: ArchivedBytes) throws {
        var file = try staged[piece.content] ?? begin(piece.content)
        guard piece.place == file.size else {
            throw ArchiveLineError("at", "must be \(file.size), where the piece before it ends")
        }
        unasked += Int64(piece.bytes.count)
        if unasked >= Self.step {
            try requireSpace()
            unasked = 0
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
        // Not the content's own name: an upload of it may be under way.
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

    /// Puts the bytes of a content where they are served, durably; nothing serves them yet.
    ///
    /// - Parameter bytes: Of contents that were brought before and that the application does not know yet.
    nonisolated(nonsending) func bring(_ file: StoredFile, besides bytes: Int64) async throws {
        guard let id = Content.ID(uuid: file.place.uuid), let taken = staged[id] else {
            guard let bringElsewhere else {
                throw ArchiveLineError(
                    "contents.id",
                    "is \(file.place.uuid), whose bytes are neither here nor on the lines before")
            }
            return try await bringElsewhere(file)
        }
        guard taken.size == file.size, taken.hash.digest == file.sha256 else {
            throw ArchiveLineError(
                "contents.sha256", "is not that of the bytes on the lines before")
        }
        try await requireQuota(bytes + file.size)
        try commit()
        guard let name = BlobName(file.place.uuid) else { preconditionFailure("an id is a name") }
        let isOurs = try await contents.publishStaged(
            taken.name, as: name, size: file.size, mediaType: file.mimeType, sha256: file.sha256)
        guard isOurs else { throw ArchiveLineError("contents.id", "is that of other bytes here") }
        staged[id] = nil
    }
}
