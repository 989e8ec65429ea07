internal import Blobs

/// The reservations of open uploads, and when each record is due.
///
/// Takes two hundred bytes of memory per record; the records themselves stay on the disk.
struct UploadLedger: Sendable {
    struct Entry: Sendable {
        fileprivate var content: BlobName?
        fileprivate var creation: UploadProtocol
        fileprivate var owner: UploadOwner
        fileprivate var isOpen: Bool
        /// Whether the staged bytes are still needed.
        fileprivate var isHeld: Bool
        fileprivate var expiresAt: Int64
        /// Bytes that may still arrive.
        fileprivate var reserved: Int64
        /// How many of them have allocated disk space already.
        fileprivate var placed: Int64
        /// Bytes that count for the quota: the length, or the stored bytes while the length is unknown.
        fileprivate var claimed: Int64
        /// The offset, and when it was reached.
        fileprivate var offset: Int64
        fileprivate var progressAt: Int64
        /// Bytes per second of the last commit; `nil` before it.
        fileprivate var rate: Double?

        var unplaced: Int64 { reserved - placed }

        /// The rate after a record has replaced this entry.
        fileprivate func rate(upTo record: UploadRecord) -> Double? {
            guard record.offset > offset else { return rate }
            let milliseconds = max(1, record.lastProgressAt - progressAt)
            return Double(record.offset - offset) * 1000 / Double(milliseconds)
        }
    }

    /// The reservation of an upload that is about to be created, so that concurrent creations count each other.
    struct Claim: Sendable {
        let owner: UploadOwner
        /// Bytes of the application's quota.
        let bytes: Int64
        /// Bytes of disk space.
        let space: Int64
    }

    // The sums wrap instead of trapping: clients state the lengths, and after a sum beyond 2^63 bytes later
    // subtractions still give the right sum.
    private var entries: [BlobName: Entry] = [:]
    private var open: [UploadOwner: Int] = [:]
    /// Reserved bytes without allocated disk space (§11.7).
    private(set) var unplaced: Int64 = 0
    /// The position up to which an upload has allocated disk space.
    private var places: [BlobName: Int64] = [:]
    private var records: [BlobName: BlobName] = [:]
    private var interrupted: Set<BlobName> = []
    private var claims: [String: Int64] = [:]

    /// Enters a record, replacing its previous entry.
    ///
    /// - Parameters:
    ///   - unknown: The reservation of an upload of unknown length.
    ///   - limit: How many of its bytes are staged at the same time, at most.
    mutating func enter(
        _ name: BlobName, _ record: UploadRecord, unknown: Int64, atMost limit: Int64 = .max
    ) {
        let former = entries[name]
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
            // The sweeper checks uploads that are being finished at every run.
            expiresAt: record.state == .finalizing ? 0 : record.expiresAt,
            reserved: isOpen ? rest : 0,
            placed: isOpen ? min(rest, max(0, (places[name] ?? 0) - record.offset)) : 0,
            claimed: record.claimed, offset: record.offset, progressAt: record.lastProgressAt,
            rate: former.flatMap { former in former.rate(upTo: record) })
        entries[name] = entry
        if let content = entry.content { records[content] = name }
        unplaced &+= entry.unplaced
        if entry.claimed > 0 { claims[entry.owner.application, default: 0] &+= entry.claimed }
        if isOpen { open[entry.owner, default: 0] += 1 }
    }

    /// Reserves what a new upload needs.
    ///
    /// - Returns: All bytes reserved by the application, including these; `nil`, and nothing is reserved, when the
    ///   owner has as many open uploads as allowed (§11.9).
    mutating func take(_ claim: Claim, limit: Int) -> Int64? {
        guard openUploads(of: claim.owner) < limit else { return nil }
        open[claim.owner, default: 0] += 1
        claims[claim.owner.application, default: 0] &+= claim.bytes
        unplaced &+= claim.space
        return claimed(by: claim.owner.application)
    }

    /// Releases a reservation, because the upload has its record now or was not created.
    mutating func give(back claim: Claim) {
        unplaced &-= claim.space
        release(claim.bytes, of: claim.owner.application)
        close(claim.owner)
    }

    /// Removes the entry of an upload that this process does not use any more; other processes may.
    mutating func leave(_ name: BlobName) {
        places[name] = nil
        remove(name)
    }

    mutating func forget(_ name: BlobName) {
        interrupted.remove(name)
        places[name] = nil
        remove(name)
    }

    /// Records up to which position an upload has allocated disk space; the free space is already reduced by it.
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

    /// The number and the reserved bytes of open uploads, by the protocol that created them.
    var reservations: [UploadProtocol: (uploads: Int, bytes: Int64)] {
        var reservations: [UploadProtocol: (uploads: Int, bytes: Int64)] = [:]
        for entry in entries.values where entry.isOpen {
            reservations[entry.creation, default: (0, 0)].uploads += 1
            reservations[entry.creation, default: (0, 0)].bytes &+= entry.reserved
        }
        return reservations
    }

    /// Records whether the last request of an upload was interrupted.
    mutating func note(_ name: BlobName, isInterrupted: Bool) {
        if isInterrupted { interrupted.insert(name) } else { interrupted.remove(name) }
    }

    /// Whether the last request of an upload was interrupted.
    func wasInterrupted(_ name: BlobName) -> Bool { interrupted.contains(name) }

    private func openUploads(of owner: UploadOwner) -> Int { open[owner] ?? 0 }

    /// The record of the upload that results in a content.
    func record(of content: BlobName) -> BlobName? { records[content] }

    /// Whether the bytes of a content are still staged for an upload.
    func isStaged(_ content: BlobName) -> Bool {
        records[content].flatMap { name in entries[name]?.isHeld } ?? false
    }

    /// The bytes that all unfinished uploads of an application reserve.
    func claimed(by application: String) -> Int64 { claims[application] ?? 0 }

    /// How long the rate of a commit is that of the upload, in milliseconds.
    private static let rateLifetime: Int64 = 10_000

    /// The bytes per second of an upload; `nil` if none have become durable lately.
    func rate(of name: BlobName, at now: Int64) -> Double? {
        guard let entry = entries[name], entry.isOpen,
            now - entry.progressAt <= Self.rateLifetime
        else { return nil }
        return entry.rate
    }

    /// The uploads after one of them by descending content id, with the names of their records.
    func listed(
        _ application: String?, isOpen: Bool, after last: String?, limit: Int
    ) -> [(content: String, name: BlobName)] {
        var found: [(content: String, name: BlobName)] = []
        for (content, name) in records {
            let content = content.text
            guard last.map({ last in content < last }) ?? true,
                found.count < limit || found.last.map({ last in content > last.content }) ?? false,
                let entry = entries[name], entry.isOpen == isOpen,
                application.map({ application in entry.owner.application == application }) ?? true
            else { continue }
            let place = found.firstIndex { other in other.content < content } ?? found.endIndex
            found.insert((content, name), at: place)
            if found.count > limit { found.removeLast() }
        }
        return found
    }

    /// Records that are due, the oldest first.
    func due(at now: Int64, limit: Int) -> [BlobName] {
        entries.filter { $0.value.expiresAt <= now }
            .sorted { $0.value.expiresAt < $1.value.expiresAt }
            .prefix(limit).map(\.key)
    }
}
