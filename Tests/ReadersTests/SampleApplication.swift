import Blobs
import Bytes
import FoundationEssentials
import HTTP
import JSON
import Messaging
import MessagingStore
import SQL
import SQLPostgres
import SystemSupport
import TestSupport
import Testing
import Uploads

@testable import Readers

/// A store with an application, a folder for archives, and an exporter that runs on demand.
final class SampleApplication: Sendable {
    static let base = "https://chat.example.com"

    let store: MessagingStore
    let blobs: BlobFolder
    let exporter: Exporter
    let renderer: WebhookRenderer
    let application: Application.ID
    let key: TestKey
    private let faults = Locked<[String]>([])
    private let database: Database
    private let schema = PostgresServer.isChosen ? BorrowedSchema() : nil
    private let folder: String
    private let time: Locked<Int64>

    init() async throws {
        let time = Locked<Int64>(1_772_356_530_042)
        self.time = time
        folder =
            FileManager.default.temporaryDirectory
            .appending(path: "parley-delivery-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try Database.open(
            schema.map { schema in .server(schema.url) } ?? .file("\(folder)/database"),
            migrations: MessagingStore.migrations)
        var environment = StoreEnvironment.live
        let now: @Sendable () -> Timestamp = {
            Timestamp(milliseconds: time.withLock { time in time })
        }
        environment.now = now
        store = MessagingStore(database: database, environment: environment)
        blobs = try BlobFolder(at: "\(folder)/blobs")
        let downloads = Downloads(
            contents: ContentRepository(blobs), catalog: NoContents(),
            keys: try SigningKeys.random(),
            publicBase: PublicBaseURL(Self.base), clock: UploadClock(now: { now().milliseconds }))
        exporter = Exporter(
            store: store, blobs: blobs, contents: ContentRepository(blobs), downloads: downloads,
            publicBase: Self.base, now: now,
            onFault: { [faults] error, _ in faults.withLock { $0.append("\(error)") } })
        renderer = WebhookRenderer(downloads: downloads, publicBase: Self.base)
        application = try await store.createApplication(name: "SampleApplication").id
        key = try TestKey()
        let publicKey = try #require(PublicKey(pem: key.pem))
        try await store.setExportKey(
            ExportKey(pem: key.pem, der: publicKey.der), in: application)
    }

    deinit {
        schema?.release { [database] in database.close() }
        // If it fails, the folder remains in the system's temporary folder.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The faults that the exporter reported.
    var reported: [String] { faults.withLock { faults in faults } }

    var now: Timestamp { Timestamp(milliseconds: time.withLock { time in time }) }

    func wait(milliseconds: Int64) { time.withLock { time in time += milliseconds } }

    /// Moves the clock by a little more than a day.
    func advanceOneDay() { wait(milliseconds: 86_400_001) }

    func conversation(
        _ names: [String] = ["ana", "bo"], metadata: MetadataTree? = nil
    ) async throws -> Conversation.ID {
        try await store.createConversation(
            Conversation.Draft(
                participants: names.compactMap { UserID($0) }, isDistinct: false,
                metadata: metadata, proposedID: nil),
            key: nil, in: application
        ).object.conversation.id
    }

    @discardableResult
    func send(
        _ body: [UInt8], _ type: String = "text/plain", to conversation: Conversation.ID
    ) async throws -> Message.ID {
        try await store.sendMessage(
            Message.Draft(
                sender: .service("Billing"),
                parts: [MessagePart.Draft(mimeType: type, body: .inline(body))], proposedID: nil),
            to: conversation, key: nil, in: application
        ).object.message.id
    }

    /// The unpublished archive of an export; `nil` if there is none.
    func archive(_ id: Export.ID) throws -> BlobFile? {
        let name = try #require(BlobName(id.uuid))
        return try blobs.contains(name) ? try blobs.open(name) : nil
    }

    /// The content of a completed export, decrypted with the private key.
    func content(of id: Export.ID) async throws -> JSONValue {
        let export = try await store.export(id, in: application)
        let archive = try #require(export.archive)
        let file = try #require(try self.archive(id))
        #expect(file.size == archive.size)
        let secret = try #require(key.open(archive.encryptedKey))
        let bytes = try file.read(Int(file.size), at: 0)
        #expect(StoreEnvironment.live.sha256(bytes) == archive.sha256)
        return try JSONDocument(
            try decryptedArchive(bytes, key: secret, initialVector: archive.initialVector),
            limits: JSONLimits(size: 1 << 30)
        ).root
    }
}

/// A catalog without contents.
struct NoContents: DownloadCatalog {
    func content(_ id: String) async throws -> StoredContent? { nil }
}
