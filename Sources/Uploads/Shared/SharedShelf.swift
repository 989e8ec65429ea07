internal import Blobs
internal import Digests
internal import Locking

/// Records where several processes see them, of which any may continue any upload.
struct SharedShelf: RecordShelf {
    let registry: any UploadRegistry
    let blobs: BlobFolder
    let queues: WorkQueues
    let clock: UploadClock
    let onFault: @Sendable (any Error) -> Void
    /// This process, since its start.
    let holder: [UInt8]
    /// See ``UploadSettings/answerPatience``.
    let answerPatience: Int64

    /// How long whoever finishes an upload may be silent.
    static let patience: Int64 = 6000
    /// How often he says that he is at it.
    static let beat: Int64 = 2000
    /// How long to wait before looking again whether somebody has finished.
    static let pause: Int64 = 200
    /// How often a record is taken from somebody who replaces it meanwhile.
    static let attempts = 10

    func find(_ name: BlobName) async throws(StorageError) -> KeptRecord? {
        let row = try await ask { registry in try await registry.find(name.text) }
        guard let row, let record = UploadRecord(row.record) else { return nil }
        return KeptRecord(
            name: name, record: record, keeper: RowKeeper(self, name, row))
    }

    func name(of content: BlobName) async throws(StorageError) -> BlobName? {
        let row = try await ask { registry in try await registry.find(content: content.text) }
        return row.flatMap { row in BlobName(row.name) }
    }

    /// The record of the upload that a content comes by.
    func record(of content: BlobName) async throws(StorageError) -> UploadRecord? {
        let row = try await ask { registry in try await registry.find(content: content.text) }
        return row.flatMap { row in UploadRecord(row.record) }
    }

    func create(
        _ name: BlobName, _ record: UploadRecord, by engine: UploadEngine
    ) async throws(UploadError) {
        let quota = try await engine.rest(of: record.owner.application)
        let row = row(name, record, version: 1)
        let made: UploadCreation
        do throws(StorageError) {
            made = try await ask { registry in
                try await registry.create(
                    row, mostOpen: engine.settings.maxOpenUploadsPerOwner, mostClaimed: quota)
            }
        } catch {
            throw UploadError(error)
        }
        switch made {
        case .created: return
        case .tooMany: throw .rateLimited
        case .tooLarge: throw .quotaExceeded(engine.settings.applicationQuota ?? 0)
        }
    }

    func forget(_ record: KeptRecord) async throws(StorageError) {
        guard let keeper = record.keeper as? RowKeeper else { return }
        let version = keeper.version
        try await ask { registry in
            try await registry.forget(record.name.text, version: version)
        }
    }

    func due(at moment: Int64, limit: Int) async throws(StorageError) -> [BlobName] {
        try await ask { registry in
            try await registry.due(at: moment, limit: limit)
        }.compactMap { name in BlobName(name) }
    }

    func claimed(by application: String) async throws(StorageError) -> Int64 {
        try await ask { registry in try await registry.claimed(by: application) }
    }

    func alone(_ work: @escaping @Sendable () async -> Void) async {
        do {
            try await registry.alone(work)
        } catch {
            onFault(error)
        }
    }

    /// What stands in the registry for a record.
    func row(_ name: BlobName, _ record: UploadRecord, version: Int64) -> RegisteredUpload {
        let owner = [record.owner.conversation ?? "", record.owner.user ?? ""]
        return RegisteredUpload(
            name: name.text, version: version, holder: holder, content: record.contentID,
            application: record.owner.application,
            // Of any length, and compared as a whole.
            owner: String(
                hexadecimal: SHA256.digest(of: Array(owner.joined(separator: "\u{0}").utf8))),
            isOpen: record.state.isOpen, claimed: record.claimed,
            dueAt: record.state == .finalizing
                ? clock.now() + SharedShelf.patience : record.expiresAt,
            record: record.bytes)
    }

    /// Removes what is staged here of a content that another process has had since.
    func discard(_ content: String) async throws(StorageError) {
        guard let blob = BlobName(content) else { return }
        let blobs = blobs
        do throws(DiskError) {
            try await queues[blob].run { () throws(DiskError) in try blobs.discard(blob) }
        } catch {
            throw .disk(error)
        }
    }

    /// Asks the registry; what it cannot do is told to the log once, here.
    func ask<Value: Sendable>(
        _ question: (any UploadRegistry) async throws -> Value
    ) async throws(StorageError) -> Value {
        do {
            return try await question(registry)
        } catch {
            onFault(error)
            throw .unregistered
        }
    }
}

extension SharedShelf {
    /// Keeps a record that somebody was given already, whatever else its owner has.
    func adopt(_ name: BlobName, _ record: UploadRecord) async throws(StorageError) {
        let row = row(name, record, version: 1)
        _ = try await ask { registry in
            try await registry.create(row, mostOpen: .max, mostClaimed: nil)
        }
    }
}
