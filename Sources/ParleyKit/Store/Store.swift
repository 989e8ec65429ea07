internal import Blobs
internal import FoundationEssentials
internal import SQL
internal import SystemSupport

/// The database and files of one user on this device (K4).
///
/// Every read of the application is answered from here, and a command returns when it is durable here.
final class Store: Sendable {
    /// What a commit has changed.
    struct Commit: Sendable {
        /// The changes that subscribers see.
        private(set) var changes: [ObjectChange] = []
        /// The kinds of rows that may have changed.
        var tables: Set<Table> = []
        /// The conversations whose rows, messages or parts may have changed.
        var conversations: Set<Conversation.ID> = []
        /// Whether the outbox has a new row.
        var hasCommands = false
        /// Whether an upload or download may begin.
        var hasTransfers = false
        /// Whether the server has contents that it had not before, so that the files here may be deleted.
        var hasSentContents = false
        /// The parts that no longer exist, of those that were uploaded or downloaded, and their files.
        var removedParts: [MessagePart.ID] = []
        var removedFiles: [String] = []

        /// The most changes of a commit, and of several for a subscriber that does not read (K65).
        static let changeLimit = 10_000

        /// Adds changes. Too many become one that asks subscribers to read everything again.
        mutating func append(_ added: [ObjectChange]) {
            changes += added
            if changes.count > Self.changeLimit, let last = changes.last {
                changes = [ObjectChange(object: last.object, kind: .resynchronize)]
            }
        }

        /// Whether no subscriber needs it.
        var isEmpty: Bool {
            changes.isEmpty && tables.isEmpty && !hasCommands && !hasTransfers && !hasSentContents
                && removedParts.isEmpty && removedFiles.isEmpty
        }
    }

    /// What queries read.
    enum Table: Hashable, Sendable {
        case conversations, messages, identities
    }

    /// The folder of the store.
    let folder: String
    /// What each commit has changed, in their order.
    let commits: Publisher<Commit>
    private let database: Database
    private let lock: Locked<FolderLock?>

    /// Opens the store in a folder, and creates it if it does not exist.
    ///
    /// - Parameter onPrepare: See ``Configuration/onPrepare``.
    /// - Throws: `storeInUse`, `storeTooNew`, `storeCorrupt`, `diskFull` or `storeUnavailable`.
    init(folder: String, onPrepare: StatementObserver? = nil) throws(ParleyError) {
        self.folder = folder
        lock = Locked(try Self.lock(folder))
        try StoreRescue.complete(in: folder)
        var settings = DatabaseSettings()
        settings.onPrepare = onPrepare
        do {
            database = try Database.open(
                file: Self.database(in: folder), migrations: StoreSchema.migrations,
                settings: settings)
        } catch {
            throw ParleyError(storeError: error)
        }
        commits = Publisher { waiting, commit in
            guard var last = waiting.popLast() else {
                waiting.append(commit)
                return
            }
            // A slow subscriber gets one commit for several.
            last.append(commit.changes)
            last.tables.formUnion(commit.tables)
            last.conversations.formUnion(commit.conversations)
            last.hasCommands = last.hasCommands || commit.hasCommands
            last.hasTransfers = last.hasTransfers || commit.hasTransfers
            last.hasSentContents = last.hasSentContents || commit.hasSentContents
            last.removedParts += commit.removedParts
            last.removedFiles += commit.removedFiles
            waiting.append(last)
        }
    }

    /// The path of the database.
    static func database(in folder: String) -> String { "\(folder)/parley.sqlite" }

    /// Locks a folder that only the user of the process can read (K4, K9); makes it if it does not exist.
    static func lock(_ folder: String) throws(ParleyError) -> FolderLock {
        let lock: FolderLock
        do throws(FolderLock.Refusal) {
            lock = try FolderLock(folder: folder)
        } catch {
            switch error {
            case .held(let process):
                throw ParleyError(
                    .storeInUse,
                    "The store \(folder) is in use\(process.map { " by process \($0)" } ?? "").")
            case .disk(let error):
                throw ParleyError(
                    .storeUnavailable, "The store \(folder) cannot be used: \(error).")
            }
        }
        try Access.restrict(folder, to: 0o700)
        #if canImport(Darwin)
            try FileProtection.set(on: folder)
        #endif
        return lock
    }

    /// Reads one consistent state.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws(ParleyError) -> Value {
        do {
            return try await database.read(body)
        } catch {
            throw ParleyError(storeError: error)
        }
    }

    /// Makes a change; when this returns, it is durable, and its commit has been published.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value
    ) async throws(ParleyError) -> Value {
        do {
            return try await database.write { [commits] sql in
                let transaction = StoreTransaction(sql)
                let value = try body(transaction)
                let commit = try transaction.finish()
                if !commit.isEmpty {
                    sql.afterCommit { commits.publish(commit) }
                }
                return value
            }
        } catch {
            throw ParleyError(storeError: error)
        }
    }

    /// Whether ``close()`` and ``delete()`` were not called.
    var isOpen: Bool { lock.withLock { lock in lock != nil } }

    /// Closes the database and unlocks the folder; blocks until running reads and writes have ended.
    func close() {
        commits.close()
        database.close()
        lock.withLock { lock in lock = nil }
    }

    /// Closes the database, deletes everything in the folder, and then unlocks it.
    ///
    /// - Throws: `closed` if it is, and `storeUnavailable`.
    func delete() throws(ParleyError) {
        // The lock is held to the end, by this function alone.
        let held = lock.withLock { lock in
            defer { lock = nil }
            return lock
        }
        guard let held else { throw .closed }
        commits.close()
        database.close()
        defer { withExtendedLifetime(held) {} }
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
            }
        } catch {
            throw ParleyError(.storeUnavailable, "The store could not be deleted: \(error).")
        }
    }
}

extension ParleyError {
    /// Converts an error thrown within a transaction: one of this module is itself.
    init(storeError error: any Error) {
        if let error = error as? ParleyError {
            self = error
            return
        }
        guard let error = error as? SQLError else {
            self.init(.storeUnavailable, "The store failed: \(error).")
            return
        }
        switch error.kind {
        case .diskFull: self.init(.diskFull, "The disk is full.", isTransient: true)
        case .corrupt, .notADatabase, .typeMismatch:
            self.init(.storeCorrupt, "The database of the store is damaged: \(error.message).")
        case .schema, .unfinished:
            self.init(.storeTooNew, "The store was written by another version: \(error.message).")
        case .closed: self = .closed
        case .locked: self.init(.storeInUse, "Another process has locked the store.")
        default: self.init(.storeUnavailable, "The store failed: \(error.message).")
        }
    }
}
