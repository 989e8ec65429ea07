internal import Blobs

/// What is promised to open uploads, and when each record's time is up.
///
/// Two hundred bytes per record in memory; the records themselves stay on the disk.
struct UploadLedger: Sendable {
    struct Entry: Sendable {
        var content: BlobName?
        var creation: UploadProtocol
        var owner: UploadOwner
        var isOpen: Bool
        /// Its bytes are still needed where they are staged.
        var isHeld: Bool
        var expiresAt: Int64
        /// Bytes that may still come.
        var reserved: Int64
        /// So many of them have their place on the disk already.
        var placed: Int64
        /// Bytes that will be a content's: of unknown length, those that are held.
        var claimed: Int64

        var unplaced: Int64 { reserved - placed }
    }

    /// What an upload takes that is about to be created, so that of two at once only one gets it.
    struct Claim: Sendable {
        let owner: UploadOwner
        /// Of the application's quota.
        let bytes: Int64
        /// Of the disk.
        let room: Int64
    }

    // The sums wrap instead of trapping: clients state what is promised, and beyond 2^63 bytes of it, what is
    // subtracted later still gives the right sum.
    private var entries: [BlobName: Entry] = [:]
    private var open: [UploadOwner: Int] = [:]
    /// Bytes promised to open uploads that have no place on the disk yet (§11.7).
    private(set) var unplaced: Int64 = 0
    /// Up to which byte of its content an upload has its place.
    private var places: [BlobName: Int64] = [:]
    private var records: [BlobName: BlobName] = [:]
    private var interrupted: Set<BlobName> = []
    private var claims: [String: Int64] = [:]

    /// Enters a record, replacing what was known of it.
    ///
    /// - Parameters:
    ///   - unknown: What an upload of unknown length is counted as.
    ///   - limit: How much of it is ever on the local disk at the same time.
    mutating func enter(
        _ name: BlobName, _ record: UploadRecord, unknown: Int64, atMost limit: Int64 = .max
    ) {
        remove(name)
        if !record.state.isOpen {
            interrupted.remove(name)
            places[name] = nil
        }
        let isOpen = record.state.isOpen
        let rest = min(record.length.map { $0 - record.offset } ?? unknown, limit)
        let entry = Entry(
            content: BlobName(record.contentID), creation: record.creation, owner: record.owner,
            isOpen: isOpen, isHeld: record.isHeld,
            // What is still being finished is looked after by every run of the sweeper.
            expiresAt: record.state == .finalizing ? 0 : record.expiresAt,
            reserved: isOpen ? rest : 0,
            placed: isOpen ? min(rest, max(0, (places[name] ?? 0) - record.offset)) : 0,
            claimed: record.claimed)
        entries[name] = entry
        if let content = entry.content { records[content] = name }
        unplaced &+= entry.unplaced
        if entry.claimed > 0 { claims[entry.owner.application, default: 0] &+= entry.claimed }
        if isOpen { open[entry.owner, default: 0] += 1 }
    }

    /// Takes what an upload is going to need.
    ///
    /// - Returns: All bytes claimed by the application, these and those before them; `nil`, and
    ///   nothing is taken, where the owner has as many open uploads as he may (§11.9).
    mutating func take(_ claim: Claim, limit: Int) -> Int64? {
        guard openUploads(of: claim.owner) < limit else { return nil }
        open[claim.owner, default: 0] += 1
        claims[claim.owner.application, default: 0] &+= claim.bytes
        unplaced &+= claim.room
        return claimed(by: claim.owner.application)
    }

    /// Gives it back, because the upload has its record now or never will.
    mutating func give(back claim: Claim) {
        unplaced &-= claim.room
        release(claim.bytes, of: claim.owner.application)
        close(claim.owner)
    }

    /// Lets go of one that this process deals with no more; others may.
    mutating func leave(_ name: BlobName) {
        places[name] = nil
        remove(name)
    }

    mutating func forget(_ name: BlobName) {
        interrupted.remove(name)
        places[name] = nil
        remove(name)
    }

    /// Notes up to which byte of its content an upload has its place on the disk: the free space
    /// there is less by so much already.
    mutating func place(_ name: BlobName, upTo place: Int64, from offset: Int64) {
        guard var entry = entries[name], entry.isOpen else { return }
        places[name] = place
        unplaced &-= entry.unplaced
        entry.placed = min(entry.reserved, max(0, place - offset))
        unplaced &+= entry.unplaced
        entries[name] = entry
    }

    private mutating func remove(_ name: BlobName) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        unplaced &-= entry.unplaced
        if let content = entry.content { records[content] = nil }
        release(entry.claimed, of: entry.owner.application)
        if entry.isOpen { close(entry.owner) }
    }

    private mutating func release(_ bytes: Int64, of application: String) {
        guard let claim = claims[application] else { return }
        claims[application] = claim > bytes ? claim - bytes : nil
    }

    private mutating func close(_ owner: UploadOwner) {
        guard let count = open[owner] else { return }
        open[owner] = count > 1 ? count - 1 : nil
    }

    /// How many uploads are open, and how many bytes are promised to them, by their creation.
    var promises: [UploadProtocol: (uploads: Int, bytes: Int64)] {
        var promises: [UploadProtocol: (uploads: Int, bytes: Int64)] = [:]
        for entry in entries.values where entry.isOpen {
            promises[entry.creation, default: (0, 0)].uploads += 1
            promises[entry.creation, default: (0, 0)].bytes &+= entry.reserved
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

    /// Whether a content is still on its way.
    func isUnderWay(_ content: BlobName) -> Bool {
        records[content].flatMap { name in entries[name]?.isHeld } ?? false
    }

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
