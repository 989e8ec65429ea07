import MessagingStore
import Uploads

/// Stores upload records in the database that several processes share.
struct DatabaseUploadRegistry: UploadRegistry {
    private let store: MessagingStore
    private let sweeping: Lease

    init(store: MessagingStore) {
        self.store = store
        sweeping = Lease("uploads", of: store)
    }

    func find(_ name: String) async throws -> RegisteredUpload? {
        try await store.upload(name).map(RegisteredUpload.init)
    }

    func find(content: String) async throws -> RegisteredUpload? {
        try await store.upload(ofContent: content).map(RegisteredUpload.init)
    }

    func create(
        _ upload: RegisteredUpload, mostOpen: Int, mostClaimed: Int64?
    ) async throws -> UploadCreationResult {
        let entry = try await store.keepUpload(
            UploadRow(upload), mostOpen: mostOpen, mostClaimed: mostClaimed)
        return switch entry {
        case .kept: .created
        case .tooMany: .tooMany
        case .tooLarge: .tooLarge
        }
    }

    func replace(_ upload: RegisteredUpload, version: Int64) async throws -> Bool {
        try await store.replaceUpload(UploadRow(upload), version: version)
    }

    func ask(_ name: String, at holder: [UInt8], to request: UploadWriterRequest) async throws
        -> Bool
    {
        try await store.askUploadWriter(name, holder: holder, request: request.rawValue)
    }

    func answer(_ name: String, at holder: [UInt8], isWritten: Bool) async throws {
        try await store.answerUploadRequest(name, holder: holder, isWritten: isWritten)
    }

    func forget(_ name: String, version: Int64) async throws {
        try await store.forgetUpload(name, version: version)
    }

    func due(at moment: Int64, limit: Int) async throws -> [String] {
        try await store.dueUploads(at: moment, limit: limit)
    }

    func claimed(by application: String) async throws -> Int64 {
        try await store.bytesClaimed(byUploadsOf: application)
    }

    func runExclusively(_ work: @escaping @Sendable () async -> Void) async throws {
        _ = try await sweeping.hold { await work() }
    }
}

extension RegisteredUpload {
    fileprivate init(_ row: UploadRow) {
        self.init(
            name: row.name, version: row.version, holder: row.holder, content: row.content,
            application: row.application, owner: row.owner, isOpen: row.isOpen,
            claimed: row.claimed, dueAt: row.dueAt, record: row.record,
            isWritten: row.isWritten, request: UploadWriterRequest(rawValue: row.wanted))
    }
}

extension UploadRow {
    fileprivate init(_ upload: RegisteredUpload) {
        self.init(
            name: upload.name, version: upload.version, holder: upload.holder,
            content: upload.content, application: upload.application, owner: upload.owner,
            isOpen: upload.isOpen, claimed: upload.claimed, dueAt: upload.dueAt,
            record: upload.record, isWritten: upload.isWritten,
            wanted: upload.request?.rawValue ?? 0)
    }
}
