import Blobs
import Console
import Logging
import Messaging
import MessagingStore
import ObjectStore
import SQL
import SQLPostgres
import SystemSupport
import Telemetry
import Uploads

extension Command {
    /// Backs up the embedded database and all contents into a folder, also while a server is
    /// running.
    ///
    /// If interrupted, the same call resumes.
    public static func backup(_ sources: SettingsSources, to folder: String) async throws -> Int32 {
        let settings = try settings(sources)
        let bar = ProgressBar()
        defer { bar.end() }
        let manifest = try await makeBackup(settings, to: folder) {
            try await bucket(settings)
        } progress: { done, total in
            bar.show(done, of: total)
        }
        bar.end()
        printLine("\(folder) holds \(summary(manifest))")
        return 0
    }

    private static func makeBackup(
        _ settings: Settings, to folder: String, bucket: () async throws -> ContentBucket?,
        progress: @escaping (Int64, Int64) -> Void
    ) async throws -> BackupManifest {
        let source = try embeddedFolder(settings, "backup")
        try source.requireDatabase(making: false)
        let draft = try draft(folder, for: "backup")
        return try await filling(folder, from: source.path) {
            try await Backup(
                source: source, draft: draft, bucket: try await bucket(),
                bucketName: settings.bucket.name, now: StoreEnvironment.live.now(),
                progress: progress
            ).run()
        }
    }

    /// The backups that operators make in the console of a running server.
    static func consoleBackup(
        _ settings: Settings, in folder: String, bucket: ContentBucket?
    ) -> ConsoleBackup {
        let executor = WorkTaskExecutor("parley.backup")
        return ConsoleBackup(in: folder) { target, progress in
            try await withTaskExecutorPreference(executor) {
                do {
                    let manifest = try await makeBackup(settings, to: target) {
                        bucket
                    } progress: { done, total in
                        progress(done, total)
                    }
                    return ConsoleBackup.Result(
                        contents: manifest.files.count,
                        bytes: manifest.database.size + manifest.files.size)
                } catch let failure as CommandFailure {
                    let text = failure.description
                    throw ConsoleBackup.Failure(
                        "\(text.prefix(1).uppercased())\(text.dropFirst()).")
                }
            }
        }
    }

    /// Restores a backup into the data folder of the settings, which must be empty.
    public static func restore(_ sources: SettingsSources, from folder: String) async throws
        -> Int32
    {
        let settings = try settings(sources)
        let target = try embeddedFolder(settings, "restore")
        let manifest = try BackupManifest.read(in: folder)
        let draft = try draft(target.path, for: "restore")
        let bar = ProgressBar()
        defer { bar.end() }
        try await filling(target.path, from: folder) {
            try await BackupRestorer(
                source: DataFolder(path: folder), manifest: manifest, draft: draft,
                bucket: try await bucket(settings),
                progress: { done, total in bar.show(done, of: total) }
            ).run()
        }
        bar.end()
        printLine("\(target.path) holds \(summary(manifest))")
        return 0
    }

    /// Begins another epoch of feeds, after the database was restored by other tools than ``restore(_:from:)``.
    public static func resetFeeds(_ sources: SettingsSources) async throws -> Int32 {
        try await withStore(sources) { store in
            try await store.beginEpoch()
            printLine("All clients will read their feeds from the beginning.")
        }
    }

    private static func summary(_ manifest: BackupManifest) -> String {
        let moment = text(manifest.madeAt)
        let inBucket =
            manifest.inBucket.count > 0
            ? "; \(manifest.inBucket.count) contents are in the bucket \(manifest.bucket ?? "")"
            : ""
        return
            "the database and \(manifest.files.count) contents of \(moment), all of them verified\(inBucket)"
    }

    private static func embeddedFolder(
        _ settings: Settings, _ command: String
    ) throws(CommandFailure) -> DataFolder {
        guard case .file = try settings.databaseLocation() else {
            throw CommandFailure(
                "parley \(command) is for the embedded database: one on a server is saved with its own tools"
            )
        }
        return DataFolder(path: settings.dataFolder)
    }

    private static func draft(
        _ folder: String, for work: String
    ) throws(CommandFailure) -> DraftFolder {
        try CommandFailure.naming(folder, as: "folder") {
            do throws(DraftFolder.Refusal) {
                return try DraftFolder(at: folder, for: work)
            } catch {
                switch error {
                case .notEmpty: throw CommandFailure("the folder \(folder) is not empty")
                case .held(let refusal): throw refusal
                case .disk(let fault): throw fault
                }
            }
        }
    }

    /// Reports errors as the source's, except for disk errors of the target.
    private static func filling<Value>(
        _ target: String, from source: String, _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await work()
        } catch let error as SQLError {
            guard error.kind == .diskFull else {
                throw CommandFailure("the database in \(source) \(CommandFailure.reason(error))")
            }
            throw CommandFailure("the folder \(target) is on a full disk")
        } catch let error as DiskError {
            return try CommandFailure.naming(target, as: "folder") { throw error }
        } catch let error as ObjectStoreError {
            throw CommandFailure("the bucket of s3.bucket cannot be used: \(error.explanation)")
        }
    }

    /// The bucket of the settings; `nil` if contents are stored in the data folder.
    static func bucket(_ settings: Settings) async throws(CommandFailure) -> ContentBucket? {
        let log = ServerLog(level: settings.logLevel)
        defer { log.sink.flush() }
        return try await BucketConnector(
            settings: settings.bucket, logger: log.logger("parley.bucket")
        ).bucket(registry: nil)?.contents
    }
}
