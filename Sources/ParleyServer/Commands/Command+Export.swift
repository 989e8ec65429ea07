import Blobs
import ImportExport
import JSON
import Messaging
import MessagingStore
import MessagingWire
import ObjectStore
import SQL
import SystemSupport
import Telemetry
import Uploads

extension Command {
    /// Writes everything of an application to the standard output, one JSON object a line, as it is at one
    /// moment, also while a server goes on with it (X10).
    ///
    /// - Parameter contents: The folder that its contents are copied to; `nil` leaves their bytes out.
    public static func export(
        _ sources: SettingsSources, application text: String, contents: String?
    ) async throws -> Int32 {
        let id = try application(text)
        let settings = try settings(sources)
        let source = DataFolder(path: settings.dataFolder)
        let bucket = contents == nil ? nil : try await bucket(settings)
        return try await withStore(sources) { store in
            try await naming(contents ?? settings.dataFolder) {
                let copies = try contents.map { folder in
                    ExportedContentCopier(
                        of: id, in: store, from: try source.blobs(), bucket,
                        to: try BlobFolder(at: folder))
                }
                try await copies?.copyAll()
                try await write(id, of: store, copies)
                try await copies?.copyLate()
            }
        }
    }

    private static func write(
        _ id: Application.ID, of store: MessagingStore, _ copies: ExportedContentCopier?
    ) async throws {
        let output = Locked(ExportOutput())
        do {
            try await store.forEachLine(of: id) { line in
                if case .record(let record) = line { try copies?.note(record) }
                try output.withLock { output in try output.write(line) }
            }
        } catch Rejection.notFound(.application) {
            throw CommandFailure("there is no application \(id)")
        }
        try output.withLock { output in try output.flush() }
    }

    /// Brings an export into the store of the settings, and tells what has come (X10).
    ///
    /// Called again, after it was stopped or not, it goes on where it was and changes nothing else.
    ///
    /// - Parameters:
    ///   - file: `-` for the standard input.
    ///   - contents: The folder that `parley export` has made.
    public static func importExport(
        _ sources: SettingsSources, from file: String, contents: String?
    ) async throws -> Int32 {
        let settings = try settings(sources)
        let folder = DataFolder(path: settings.dataFolder)
        var lines = try LineReader(file)
        let bucket = try await bucket(settings)
        let lock = try lock(folder, settings, isFilling: contents != nil && bucket == nil)
        defer { withExtendedLifetime(lock) {} }
        return try await withStore(sources, making: true) { store in
            try await naming(folder.path) {
                let arriving = ImportedContents(
                    by: try folder.blobs(),
                    to: try ContentRepository(
                        of: folder.uploads, in: bucket,
                        clock: UploadClock(now: systemMilliseconds)),
                    orElse: try bytes(in: contents, for: folder, bucket))
                var importer = Importer(store, arriving)
                do {
                    while let line = try lines.next() {
                        try await importer.add(line, line: lines.number)
                    }
                    try await importer.finish()
                } catch {
                    // What is told is why it ended; repeating it brings the rest.
                    try? await importer.stop()
                    throw error
                }
                tell(importer.summary)
            }
        }
    }

    /// A line for each kind, its members parted by tabs.
    private static func tell(_ tally: ImportSummary) {
        for count in tally.counts {
            let (brought, present) = (count.brought, count.present)
            say("\(count.kind.plural)\t\(brought) brought\t\(present) there already")
        }
        say("conversations merged\t\(tally.merged)")
        say(tally.hasChanged ? "all of it durable" : "nothing has changed")
    }

    /// A server answers from what it remembers of a database that nobody else writes, and keeps its
    /// contents for itself.
    private static func lock(
        _ folder: DataFolder, _ settings: Settings, isFilling: Bool
    ) throws(CommandFailure) -> FolderLock? {
        if case .server = try settings.databaseLocation(), !isFilling { return nil }
        return try CommandFailure.naming(folder.path) { try FolderLock(folder: folder.path) }
    }

    /// What brings the bytes of a content to where they are served.
    private static func bytes(
        in contents: String?, for folder: DataFolder, _ bucket: ContentBucket?
    ) throws -> ((StoredFile) async throws -> Void)? {
        guard let contents else { return nil }
        let target: ContentMigration.Target =
            if let bucket {
                .bucket(bucket)
            } else {
                .folder(try folder.blobs())
            }
        let move = ContentMigration(source: try BlobFolder(at: contents), target: target)
        return { file in
            do {
                try await move.bring(file)
            } catch let failure as CommandFailure {
                throw ArchiveLineError("contents.id", "cannot be brought: \(failure)")
            }
        }
    }

    /// What goes wrong with a disk or a bucket is said with its name.
    private static func naming(_ folder: String, _ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let mistake as ImportError {
            throw CommandFailure("\(mistake)")
        } catch let error as SQLError {
            throw CommandFailure("the database \(CommandFailure.reason(error))")
        } catch let error as DiskError {
            return try CommandFailure.naming(folder, as: "folder") { throw error }
        } catch let error as ObjectStoreError {
            throw CommandFailure("the bucket of s3.bucket cannot be used: \(error)")
        }
    }
}

/// The lines of an export on their way out.
private struct ExportOutput {
    private var output = StandardOutput()

    mutating func write(_ line: ArchiveLine) throws(CommandFailure) {
        var writer = JSONWriter(capacity: 4096)
        ArchiveLineJSON.write(line, into: &writer)
        try output.write(writer.finish() + [UInt8(ascii: "\n")])
    }

    mutating func flush() throws(CommandFailure) { try output.flush() }
}

extension ArchiveRecordKind {
    /// What many of them are called.
    fileprivate var plural: String {
        switch self {
        case .application: "applications"
        case .user: "users"
        case .relations: "relations"
        case .conversation: "conversations"
        case .message: "messages"
        case .bytes: "bytes"
        case .content: "contents"
        case .scheduled: "scheduled messages"
        case .announcement: "announcements"
        case .key: "keys"
        }
    }
}
