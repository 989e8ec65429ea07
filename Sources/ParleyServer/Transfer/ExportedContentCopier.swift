import Blobs
import Messaging
import MessagingStore
import SystemSupport
import Uploads

/// Copies the contents of an application into a folder, beside an export that is being written.
///
/// Most of them before it, because a look at the database must not wait for them; the few that came in
/// between behind it.
struct ExportedContentCopier: Sendable {
    let store: MessagingStore
    let application: Application.ID
    let source: BlobFolder
    let bucket: ContentBucket?
    let target: BlobFolder
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

    private static let stretch = 100

    /// Copies what there is now; what is missing may have been let go of meanwhile.
    func copyAll() async throws {
        var last: Content.ID?
        repeat {
            let files = try await store.contentFiles(
                of: application, after: last, limit: Self.stretch)
            for file in files { _ = try await copy(file) }
            last = files.last.flatMap { file in Content.ID(uuid: file.place.uuid) }
        } while last != nil
    }

    /// Remembers a content that the export names, unless it has been copied.
    func note(_ record: ArchiveRecord) throws {
        for moved in record.contents {
            let file = StoredFile(moved.content, of: application)
            guard try !target.contains(file.name) else { continue }
            late.withLock { late in late.append(file) }
        }
    }

    /// Copies what has been noted.
    ///
    /// - Throws: ``CommandFailure`` when one is nowhere.
    func copyLate() async throws {
        for file in late.withLock({ late in late }) where try await !copy(file) {
            throw CommandFailure(
                "\(file.title) is missing: somebody has deleted it meanwhile, so export again")
        }
    }

    private func copy(_ file: StoredFile) async throws -> Bool {
        if try BlobCopier(source: source, target: target).copy(file) != .missing { return true }
        guard let bucket, try await bucket.stage(file.name, in: target) else { return false }
        guard file.isMade(of: try target.openStaged(file.name).digest()) else {
            try target.discard(file.name)
            throw file.isDamaged(in: "the bucket")
        }
        try target.publish(file.name)
        return true
    }
}
