internal import Blobs

/// What is promised to open uploads, and when each record's time is up.
///
/// A hundred bytes per record in memory; the records themselves stay on the disk.
struct Ledger: Sendable {
    struct Entry: Sendable {
        var owner: UploadOwner
        var isOpen: Bool
        var expiresAt: Int64
        /// Bytes that may still come.
        var reserved: Int64
    }

    private var entries: [BlobName: Entry] = [:]
    private var open: [UploadOwner: Int] = [:]
    /// Bytes promised to open uploads (§11.7).
    private(set) var reserved: Int64 = 0

    /// Enters a record, replacing what was known of it.
    mutating func enter(_ name: BlobName, _ record: UploadRecord, unknown: Int64) {
        forget(name)
        let isOpen = record.state.isOpen
        let rest = record.length.map { $0 - record.offset } ?? unknown
        let entry = Entry(
            owner: record.owner, isOpen: isOpen,
            // What is still being finished is looked after by every run of the sweeper.
            expiresAt: record.state == .finalizing ? 0 : record.expiresAt,
            reserved: isOpen ? rest : 0)
        entries[name] = entry
        reserved += entry.reserved
        if isOpen { open[entry.owner, default: 0] += 1 }
    }

    mutating func forget(_ name: BlobName) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        reserved -= entry.reserved
        guard entry.isOpen, let count = open[entry.owner] else { return }
        open[entry.owner] = count > 1 ? count - 1 : nil
    }

    var openUploads: Int { open.values.reduce(0, +) }

    func openUploads(of owner: UploadOwner) -> Int { open[owner] ?? 0 }

    /// Records whose time is up, the oldest first.
    func due(at now: Int64, limit: Int) -> [BlobName] {
        entries.filter { $0.value.expiresAt <= now }
            .sorted { $0.value.expiresAt < $1.value.expiresAt }
            .prefix(limit).map(\.key)
    }

    var names: Set<BlobName> { Set(entries.keys) }
}
