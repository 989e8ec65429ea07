import Blobs
import ImportExport
import JSON
import Messaging
import MessagingStore
import MessagingWire
import ObjectStore
import SQL
import SQLPostgres
import SystemSupport
import Telemetry
import Uploads

extension Command {
    /// Writes an application to standard output as of one moment, one JSON object per line, also
    /// while a server is running (X10).
    ///
    /// - Parameter contents: The folder to copy contents to; `nil` leaves their bytes out.
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

    /// Imports an export into the store of the settings and prints what was imported (X10).
    ///
    /// Repeating it resumes an interrupted import and otherwise changes nothing.
    ///
    /// - Parameters:
    ///   - file: `-` for standard input.
    ///   - contents: The folder that `parley export` has written.
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
                    // The first error is reported; repeating the command imports the rest.
                    try? await importer.stop()
                    throw error
                }
                printSummary(importer.summary)
            }
        }
    }

    /// Prints a line for each kind, separated by tabs.
    private static func printSummary(_ summary: ImportSummary) {
        for count in summary.counts {
            let (imported, present) = (count.imported, count.present)
            printLine("\(count.kind.plural)\t\(imported) imported\t\(present) already present")
        }
        printLine("conversations merged\t\(summary.merged)")
        printLine(summary.hasChanged ? "all records are durable" : "nothing has changed")
    }

    /// Locks the folder: a server caches an embedded database that no other process writes, and has
    /// its contents for itself.
    private static func lock(
        _ folder: DataFolder, _ settings: Settings, isFilling: Bool
    ) throws(CommandFailure) -> FolderLock? {
        if case .server = try settings.databaseLocation(), !isFilling { return nil }
        return try CommandFailure.naming(folder.path) { try FolderLock(folder: folder.path) }
    }

    /// The function that copies a content's bytes to the served folder or bucket.
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
        let migration = ContentMigration(source: try BlobFolder(at: contents), target: target)
        return { file in
            do {
                try await migration.migrate(file)
            } catch let failure as CommandFailure {
                throw ArchiveLineError("contents.id", "cannot be imported: \(failure)")
            }
        }
    }

    /// Reports disk, bucket and database errors with their names.
    private static func naming(_ folder: String, _ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as ImportError {
            throw CommandFailure("\(error)")
        } catch let error as SQLError {
            throw CommandFailure("the database \(CommandFailure.reason(error))")
        } catch let error as DiskError {
            return try CommandFailure.naming(folder, as: "folder") { throw error }
        } catch let error as ObjectStoreError {
            throw CommandFailure("the bucket of s3.bucket cannot be used: \(error.explanation)")
        }
    }
}

/// Writes the lines of an export.
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
    /// The plural for people.
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
