internal import Blobs
internal import SystemSupport

/// Content on the local disk: a staged file becomes content by being renamed (§10.1, §11.1).
struct DiskStorage: ContentStorage {
    let blobs: BlobFolder
    private let queues = WorkQueuePool("parley.contents.disk", count: 4)

    func publish(_ content: StagedContent) async throws(StorageError) {
        try await work(on: content.name) { blobs throws(DiskError) in
            try blobs.publish(content.name)
        }
    }

    func publish(_ archive: ArchiveFile, _ content: StagedContent) async throws(StorageError) {
        try await publish(content)
    }

    func publishStaged(
        _ staged: BlobName, as content: StagedContent
    ) async throws(StorageError) -> Bool {
        try await work(on: content.name) { blobs throws(DiskError) in
            guard try blobs.contains(content.name) else {
                try blobs.publish(content.name, stagedAs: staged)
                return true
            }
            guard try blobs.open(content.name).digest() == content.sha256 else { return false }
            try blobs.discard(staged)
            return true
        }
    }

    func open(_ name: BlobName) async throws(StorageError) -> OpenContent {
        let queue = queues[name]
        let file = try await work(on: name) { blobs throws(DiskError) in try blobs.open(name) }
        return .file(file, queue)
    }

    func erase(_ name: BlobName) async throws(StorageError) -> Int64 {
        try await work(on: name) { blobs throws(DiskError) in try blobs.deleteDurably(name) }
    }

    func uploader(of name: BlobName) -> PartUploader? { nil }

    func mostStaged(of length: Int64?) -> Int64 { .max }

    func isFullyStaged(_ name: BlobName) async throws(StorageError) -> Bool { true }

    func cancelParts(of name: BlobName) {}

    func tidy(isStaged: @Sendable (BlobName) -> Bool) async {}

    func isStaged(_ name: BlobName) async throws(StorageError) -> Bool {
        try await work(on: name) { blobs throws(DiskError) in
            try blobs.stagedSize(name) != nil
        }
    }

    func isPublishedHere(_ name: BlobName) async throws(StorageError) -> Bool {
        try await work(on: name) { blobs throws(DiskError) in try blobs.contains(name) }
    }

    private func work<Value: Sendable>(
        on name: BlobName, _ work: @escaping @Sendable (BlobFolder) throws(DiskError) -> Value
    ) async throws(StorageError) -> Value {
        let blobs = blobs
        do throws(DiskError) {
            return try await queues[name].run { () throws(DiskError) in try work(blobs) }
        } catch {
            throw StorageError(error)
        }
    }
}
