import Blobs
import MessagingStore
import ObjectStore
import SQL
import SQLPostgres
import Uploads

extension Command {
    /// Migrates an embedded database to a PostgreSQL server, and its contents to a folder or
    /// bucket.
    ///
    /// If interrupted, the same call resumes and does not send rows twice.
    ///
    /// - Parameters:
    ///   - source: `sqlite:` and a data folder that no server is using.
    ///   - target: The URL of the database; `nil` for that of the settings.
    ///   - blobs: A data folder, or `bucket` for that of the settings; `nil` if contents stay.
    public static func migrate(
        _ sources: SettingsSources, from source: String, to target: String?, blobs: String?
    ) async throws -> Int32 {
        let settings = try settings(sources)
        guard source.hasPrefix("sqlite:"), source != "sqlite:" else {
            throw CommandFailure("--from must be sqlite: and a data folder")
        }
        let folder = DataFolder(path: String(source.dropFirst("sqlite:".count)))
        let url = try targetURL(target, settings)
        try folder.requireDatabase(making: false)
        let lock = try CommandFailure.naming(folder.path) { try FolderLock(folder: folder.path) }
        defer { withExtendedLifetime(lock) {} }
        // A restore may have begun before the lock was taken.
        try folder.requireWhole()
        try await migrating(folder.path, to: blobs ?? settings.dataFolder) {
            let contents = try await contentMigration(from: folder, to: blobs, settings)
            try await transfer(folder, to: url, contents)
        }
        return 0
    }

    private static func transfer(
        _ folder: DataFolder, to url: String, _ contents: ContentMigration
    ) async throws {
        let migration = try DatabaseMigration(
            from: folder.database, to: url, migrations: MessagingStore.migrations)
        let bar = ProgressBar(of: migration.rows * 2, in: .rows)
        defer { bar.end() }
        var rows = migration.rowsBefore
        bar.show(rows)
        try migration.send { count in
            rows += Int64(count)
            bar.show(rows)
        }
        for table in migration.tables {
            try migration.verify(table) { count in
                rows += Int64(count)
                bar.show(rows)
            }
        }
        bar.end()
        let (count, size) = try await migrateContents(contents, of: folder)
        try migration.finish()
        for table in migration.tables { printLine("\(table.name)\t\(table.rows)") }
        printLine("rows\t\(migration.rows)\ncontents\t\(count)\nbytes\t\(size)")
        printLine("all of it verified, row by row and digest by digest")
    }

    /// Copies the contents that the embedded database refers to.
    private static func migrateContents(
        _ contents: ContentMigration, of folder: DataFolder
    ) async throws -> (count: Int, size: Int64) {
        let database = try Database.open(
            .file(folder.database), migrations: MessagingStore.migrations)
        defer { database.close() }
        let store = MessagingStore(database: database)
        let bar = ProgressBar(of: try await store.storedFileBytes())
        defer { bar.end() }
        var (count, size) = (0, Int64(0))
        try await store.forEachStoredFile { file in
            try await contents.migrate(file)
            count += 1
            size += file.size
            bar.show(size)
        }
        return (count, size)
    }

    private static func contentMigration(
        from folder: DataFolder, to blobs: String?, _ settings: Settings
    ) async throws -> ContentMigration {
        let source = try folder.blobs()
        guard let blobs else { return ContentMigration(source: source, target: .inPlace) }
        guard blobs == "bucket" else {
            let target = DataFolder(path: blobs)
            if target.path == folder.path {
                return ContentMigration(source: source, target: .inPlace)
            }
            let blobs = try target.blobs()
            try copyKeys(of: folder, to: target)
            return ContentMigration(source: source, target: .folder(blobs))
        }
        guard let bucket = try await bucket(settings) else {
            throw CommandFailure("--blobs bucket is that of s3.bucket, which must name it")
        }
        try copyKeys(of: folder, to: DataFolder(path: settings.dataFolder))
        return ContentMigration(source: source, target: .bucket(bucket))
    }

    /// Copies the download keys, so that existing URLs stay valid.
    private static func copyKeys(of folder: DataFolder, to target: DataFolder) throws {
        guard try target.downloadKeys() == nil, let keys = try folder.downloadKeys(),
            let name = BlobName(DataFolder.downloadKeys)
        else { return }
        try SecretFile(folder: target.path, name: name).write(keys.read(Int(keys.size), at: 0))
    }

    private static func targetURL(
        _ text: String?, _ settings: Settings
    ) throws(CommandFailure) -> String {
        guard let text else {
            guard case .server(let url) = try settings.databaseLocation() else {
                throw CommandFailure("--to or database.url must name the database")
            }
            return url
        }
        guard let url = SettingKind.databaseURL.value(text)?.text else {
            throw CommandFailure("--to must be \(SettingKind.databaseURL.rule)")
        }
        return url
    }

    private static func migrating(
        _ source: String, to target: String, _ work: () async throws -> Void
    ) async throws {
        do {
            try await work()
        } catch let failure as DatabaseMigration.Failure {
            switch failure {
            case .source(let error):
                throw CommandFailure("the database in \(source) \(CommandFailure.reason(error))")
            case .notEmpty(let table):
                throw CommandFailure("the database of --to is not empty: there are \(table)")
            case .differs(let table):
                throw CommandFailure(
                    "\(table) are not the same on both sides: empty the database of --to and start again"
                )
            }
        } catch let error as SQLError {
            throw CommandFailure("the database of --to \(CommandFailure.reason(error))")
        } catch let error as DiskError {
            return try CommandFailure.naming(target) { throw error }
        } catch let error as ObjectStoreError {
            throw CommandFailure("the bucket of s3.bucket cannot be used: \(error.explanation)")
        }
    }
}
