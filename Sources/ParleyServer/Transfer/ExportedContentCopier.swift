import Blobs
import Messaging
import MessagingStore
import SystemSupport
import Uploads

/// Copies the contents of an application into a folder beside an export.
///
/// Most are copied before the export, so that the database snapshot is not held for them; those
/// added meanwhile are copied after it.
struct ExportedContentCopier: Sendable {
    private let store: MessagingStore
    private let application: Application.ID
    private let source: BlobFolder
    private let bucket: ContentBucket?
    private let target: BlobFolder
    private let late = Locked<[StoredFile]>([])

    init(
        of application: Application.ID, in store: MessagingStore, from source: BlobFolder,
        _ bucket: ContentBucket?, to target: BlobFolder
    ) {
        self.application = application
        self.store = store
        self.source = source
        self.bucket = bucket
        self.target = target
    }

    private static let batchSize = 100

    /// Copies the contents that exist now; one that is missing may have been deleted meanwhile.
    func copyAll() async throws {
        var last: Content.ID?
        repeat {
            let files = try await store.contentFiles(
                of: application, after: last, limit: Self.batchSize)
            for file in files { _ = try await copy(file) }
            last = files.last.flatMap { file in Content.ID(uuid: file.key.uuid) }
        } while last != nil
    }

    /// Adds the contents of a record that are not copied yet.
    func note(_ record: ArchiveRecord) throws {
        for archived in record.contents {
            let file = StoredFile(archived.content, of: application)
            guard try !target.contains(file.name) else { continue }
            late.withLock { late in late.append(file) }
        }
    }

    /// Copies the noted contents.
    ///
    /// - Throws: ``CommandFailure`` if one is missing.
    func copyLate() async throws {
        for file in late.withLock({ late in late }) where try await !copy(file) {
            throw CommandFailure(
                "\(file.title) is missing: it was deleted meanwhile, so export again")
        }
    }

    private func copy(_ file: StoredFile) async throws -> Bool {
        if try BlobCopier(source: source, target: target).copy(file) != .missing { return true }
        guard let bucket, try await bucket.stage(file.name, in: target) else { return false }
        guard file.hasDigest(try target.openStaged(file.name).digest()) else {
            try target.discard(file.name)
            throw file.isDamaged(in: "the bucket")
        }
        try target.publish(file.name)
        return true
    }
}
