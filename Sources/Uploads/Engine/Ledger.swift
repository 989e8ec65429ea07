internal import Blobs

/// What is promised to open uploads, and when each record's time is up.
///
/// Two hundred bytes per record in memory; the records themselves stay on the disk.
struct Ledger: Sendable {
    struct Entry: Sendable {
        var content: BlobName?
        var creation: CreationDialect
        var owner: UploadOwner
        var isOpen: Bool
        var expiresAt: Int64
        /// Bytes that may still come.
        var reserved: Int64
        /// Bytes that will be a content's: of unknown length, those that are held.
        var claimed: Int64
    }

    private var entries: [BlobName: Entry] = [:]
    private var open: [UploadOwner: Int] = [:]
    /// Bytes promised to open uploads (§11.7).
    private(set) var reserved: Int64 = 0
    private var records: [BlobName: BlobName] = [:]
    private var interrupted: Set<BlobName> = []
    private var claims: [String: Int64] = [:]

    /// Enters a record, replacing what was known of it.
    mutating func enter(_ name: BlobName, _ record: UploadRecord, unknown: Int64) {
        remove(name)
        if !record.state.isOpen { interrupted.remove(name) }
        let isOpen = record.state.isOpen
        // A finished part lies there until it is forgotten, and is no content either (§6.10).
        let isHeld =
            !record.state.isTerminal || record.tus.isPartial && record.state == .complete
        let rest = record.length.map { $0 - record.offset } ?? unknown
        let entry = Entry(
            content: BlobName(record.contentID), creation: record.creation, owner: record.owner,
            isOpen: isOpen,
            // What is still being finished is looked after by every run of the sweeper.
            expiresAt: record.state == .finalizing ? 0 : record.expiresAt,
            reserved: isOpen ? rest : 0,
            claimed: isHeld ? record.length ?? record.offset : 0)
        entries[name] = entry
        if let content = entry.content { records[content] = name }
        reserved += entry.reserved
        if entry.claimed > 0 { claims[entry.owner.application, default: 0] += entry.claimed }
        if isOpen { open[entry.owner, default: 0] += 1 }
    }

    mutating func forget(_ name: BlobName) {
        interrupted.remove(name)
        remove(name)
    }

    private mutating func remove(_ name: BlobName) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        reserved -= entry.reserved
        if let content = entry.content { records[content] = nil }
        if let claim = claims[entry.owner.application] {
            claims[entry.owner.application] = claim > entry.claimed ? claim - entry.claimed : nil
        }
        guard entry.isOpen, let count = open[entry.owner] else { return }
        open[entry.owner] = count > 1 ? count - 1 : nil
    }

    /// How many uploads are open, and how many bytes are promised to them, by their creation.
    var promises: [CreationDialect: (uploads: Int, bytes: Int64)] {
        var promises: [CreationDialect: (uploads: Int, bytes: Int64)] = [:]
        for entry in entries.values where entry.isOpen {
            promises[entry.creation, default: (0, 0)].uploads += 1
            promises[entry.creation, default: (0, 0)].bytes += entry.reserved
        }
        return promises
    }

    /// Remembers whether what came last of an upload broke off.
    mutating func note(_ name: BlobName, brokeOff: Bool) {
        if brokeOff { interrupted.insert(name) } else { interrupted.remove(name) }
    }

    /// Whether what came last of an upload broke off.
    func brokeOff(_ name: BlobName) -> Bool { interrupted.contains(name) }

    func openUploads(of owner: UploadOwner) -> Int { open[owner] ?? 0 }

    /// The record of the upload that a content comes by.
    func record(of content: BlobName) -> BlobName? { records[content] }

    /// Bytes of all uploads of an application that are not contents yet.
    func claimed(by application: String) -> Int64 { claims[application] ?? 0 }

    /// Records whose time is up, the oldest first.
    func due(at now: Int64, limit: Int) -> [BlobName] {
        entries.filter { $0.value.expiresAt <= now }
            .sorted { $0.value.expiresAt < $1.value.expiresAt }
            .prefix(limit).map(\.key)
    }

    var names: Set<BlobName> { Set(entries.keys) }
}
