internal import Blobs
internal import Locking

/// The uploads somebody deals with, each with one owner of its state (§11.4).
final class ActiveUploads: Sendable {
    /// What came of looking for an upload: there may be none, or nobody could look.
    typealias Loaded = Result<Upload?, StorageError>

    private struct Entry: Sendable {
        let upload: Task<Loaded, Never>
        var users: Int
    }

    private let entries = Locked<[BlobName: Entry]>([:])

    /// Joins those who deal with an upload; the first has it loaded.
    func enter(_ name: BlobName, load: () -> Task<Loaded, Never>) -> Task<Loaded, Never> {
        entries.withLock { entries in
            var entry = entries[name] ?? Entry(upload: load(), users: 0)
            entry.users += 1
            entries[name] = entry
            return entry.upload
        }
    }

    /// Keeps an upload that somebody deals with beyond them, until ``leave(_:)``.
    func hold(_ name: BlobName) { entries.withLock { $0[name]?.users += 1 } }

    /// Lets go; the last one forgets the owner.
    ///
    /// - Returns: Whether it was the last one.
    @discardableResult func leave(_ name: BlobName) -> Bool {
        entries.withLock { entries in
            entries[name]?.users -= 1
            guard entries[name]?.users == 0 else { return false }
            entries[name] = nil
            return true
        }
    }

    /// All of them.
    var uploads: [Task<Loaded, Never>] { entries.withLock { $0.values.map(\.upload) } }
}
