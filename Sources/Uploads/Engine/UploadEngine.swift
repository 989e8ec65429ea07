internal import Blobs
internal import Bytes
internal import SystemSupport

/// What every upload shares: folders, queues, time, and who is told at the end.
struct UploadEngine: Sendable {
    let settings: UploadSettings
    let clock: UploadClock
    let blobs: BlobFolder
    let records: any UploadRecordStore
    /// Where complete contents lie.
    let storage: any ContentStorage
    /// Where bytes lie that any process may go on from; `nil` where they are this one's alone.
    let shared: SharedStorage?
    let finisher: any UploadFinisher
    let ledger: Locked<UploadLedger>
    let queues: WorkQueuePool
    /// Told of each commit that made bytes durable, and how long it took.
    let onCommit: @Sendable (UploadProtocol, Duration) -> Void
    let statistics = Locked(UploadStatistics())

    /// How many bytes of an upload are ever staged at the same time; a part of a concatenation stays
    /// here as a whole.
    func mostStaged(_ record: UploadRecord) -> Int64 {
        record.tus.isPartial && shared == nil ? .max : storage.mostStaged(of: record.length)
    }

    /// Writes what the ledger has to know of a record, in the place of what was claimed for it.
    func note(_ name: BlobName, _ record: UploadRecord, for claim: UploadLedger.Claim? = nil) {
        ledger.withLock { ledger in
            if let claim { ledger.give(back: claim) }
            ledger.enter(
                name, record, unknown: settings.unknownReservation, atMost: mostStaged(record))
        }
    }

    /// Whether all promises and claims fit the disk. Waits for the disk.
    func requireDiskSpace() throws(DiskError) {
        let space = try blobs.freeSpace()
        let headroom = settings.diskHeadroom ?? max(1 << 30, space.total / 20)
        guard ledger.withLock({ $0.unplaced }) <= space.available - headroom else {
            throw DiskError(kind: .full, operation: "reserve")
        }
    }

    /// The record of an upload whose bytes are gone: whoever asks hears it until its tombstone goes.
    func lost(_ record: UploadRecord) -> UploadRecord {
        var record = record
        record.state = .failed
        record.failure = .storageLost
        record.expiresAt = clock.now() + settings.tombstoneTTL
        return record
    }

    /// Tells of a finished content, once more where it was told of before.
    func reportFinished(_ content: FinishedUpload) async throws {
        do {
            try await finisher.finished(content, within: settings.applicationQuota)
        } catch is QuotaExceeded {
            throw UploadError.quotaExceeded(settings.applicationQuota ?? 0)
        }
    }

    /// Whether an application may hold so many bytes beyond those of its contents (§11.6).
    ///
    /// - Parameter content: One that does not count, whether it is finished or not.
    func requireQuota(
        of application: String, for bytes: Int64, besides content: String? = nil
    ) async throws(UploadError) {
        guard let rest = try await rest(of: application, besides: content) else { return }
        guard bytes <= rest else { throw .quotaExceeded(settings.applicationQuota ?? 0) }
    }

    /// How many bytes an application may hold beyond those of its contents; `nil` for any number.
    func rest(
        of application: String, besides content: String? = nil
    ) async throws(UploadError) -> Int64? {
        guard let quota = settings.applicationQuota else { return nil }
        do {
            return quota - (try await finisher.storedBytes(of: application, besides: content))
        } catch {
            // Nobody could look; taken for "none yet" it would let everything in.
            throw .backend
        }
    }

    /// The same for bytes beside those of all uploads under way; with none, whether these still fit.
    func requireQuota(
        of application: String, besidesUploads bytes: Int64
    ) async throws(UploadError) {
        guard settings.applicationQuota != nil else { return }
        let claimed: Int64
        do throws(StorageError) {
            claimed = try await records.claimed(by: application)
        } catch {
            throw UploadError(error)
        }
        let (sum, overflow) = claimed.addingReportingOverflow(bytes)
        try await requireQuota(of: application, for: overflow ? .max : sum)
    }
}

extension UploadEngine {
    /// Digests of a whole content: those that are behind are read up, and SHA-512, which runs for
    /// nobody else, is made where it is wanted.
    ///
    /// Piece by piece, because others wait for the same queue.
    func digests(
        of content: OpenContent, length: Int64, from known: RunningHashes, withSHA512 isWanted: Bool
    ) async throws(StorageError) -> (hashes: RunningHashes, sha512: [UInt8]?) {
        var hashes = known
        var sha512 = isWanted ? SHA512() : nil
        var position = isWanted ? 0 : hashes.slowestPosition
        var reader = content.reader(position..<length)
        while let piece = try await reader.next() {
            // Two digests may stand at different places; each takes only what continues it.
            hashes.catchUp(piece, at: position)
            sha512?.update(piece.span)
            position += Int64(piece.count)
        }
        guard hashes.slowestPosition == length else { throw .lost }
        return (hashes, sha512?.digest)
    }
}
