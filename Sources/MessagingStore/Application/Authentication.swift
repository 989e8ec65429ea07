import Locking
import Messaging

/// Grants this process has read lately, by the SHA-256 of their secrets.
///
/// A grant is believed for a second, so what another process revokes is seen within one.
final class Authentication: Sendable {
    /// How long a grant is believed, in milliseconds.
    static let belief: Int64 = 1000
    /// Grants kept; beyond it all are forgotten, which costs one read each.
    private static let capacity = 10_000

    private struct Entry {
        let grant: Grant
        let readAt: Timestamp
    }

    private let entries = Locked<[[UInt8]: Entry]>([:])

    /// A grant that needs no look into the database.
    func grant(for digest: [UInt8], at now: Timestamp) -> Grant? {
        entries.withLock { entries in
            guard let entry = entries[digest], entry.grant.token.holds(at: now),
                (0..<Self.belief).contains(now.milliseconds - entry.readAt.milliseconds)
            else { return nil }
            return entry.grant
        }
    }

    func keep(_ grant: Grant, for digest: [UInt8], readAt moment: Timestamp) {
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeAll() }
            entries[digest] = Entry(grant: grant, readAt: moment)
        }
    }

    /// Forgets everything: tokens or applications have changed here.
    func forget() {
        entries.withLock { entries in entries.removeAll() }
    }
}
