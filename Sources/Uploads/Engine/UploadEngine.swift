internal import Blobs
internal import Bytes
internal import SystemSupport

/// The folders, queues, clock and finisher that all uploads share.
struct UploadEngine: Sendable {
    let settings: UploadSettings
    let clock: UploadClock
    let blobs: BlobFolder
    let records: any UploadRecordStore
    /// The storage of complete content.
    let storage: any ContentStorage
    /// The storage that several processes share; `nil` where this process has it for itself.
    let shared: SharedStorage?
    let finisher: any UploadFinisher
    let ledger: Locked<UploadLedger>
    let queues: WorkQueuePool
    /// Called with the protocol and the duration of each commit that made bytes durable.
    let onCommit: @Sendable (UploadProtocol, Duration) -> Void
    let statistics = Locked(UploadStatistics())

    /// How many bytes of an upload are staged at the same time, at most; a partial upload of a concatenation stays
    /// staged as a whole.
    func mostStaged(_ record: UploadRecord) -> Int64 {
        record.tus.isPartial && shared == nil ? .max : storage.mostStaged(of: record.length)
    }

    /// Updates the ledger with a record, releasing its reservation.
    func note(_ name: BlobName, _ record: UploadRecord, for claim: UploadLedger.Claim? = nil) {
        ledger.withLock { ledger in
            if let claim { ledger.give(back: claim) }
            ledger.enter(
                name, record, unknown: settings.unknownReservation, atMost: mostStaged(record))
        }
    }

    /// Requires that all reservations fit on the disk. Waits for the disk.
    func requireDiskSpace() throws(DiskError) {
        let space = try storageSpace()
        guard space.reserved <= space.available - space.headroom else {
            throw DiskError(kind: .full, operation: "reserving space")
        }
    }

    /// The space on the volume of the data folder. Waits for the disk.
    func storageSpace() throws(DiskError) -> StorageSpace {
        let space = try blobs.freeSpace()
        return StorageSpace(
            total: space.total, available: space.available,
            headroom: settings.diskHeadroom ?? max(1 << 30, space.total / 20),
            reserved: ledger.withLock { ledger in ledger.unplaced })
    }

    /// The record of an upload whose bytes are lost; requests get this error until the record is deleted.
    func lost(_ record: UploadRecord) -> UploadRecord {
        var record = record
        record.state = .failed
        record.failure = .storageLost
        record.expiresAt = clock.now() + settings.tombstoneTTL
        return record
    }

    /// Reports a finished upload; may be repeated.
    func reportFinished(_ upload: FinishedUpload) async throws {
        do {
            try await finisher.finished(upload, within: settings.applicationQuota)
        } catch is QuotaExceeded {
            throw UploadError.quotaExceeded(settings.applicationQuota ?? 0)
        }
    }

    /// Requires that an application may store that many bytes besides its content (§11.6).
    ///
    /// - Parameter content: Content that is not counted, whether it is finished or not.
    func requireQuota(
        of application: String, for bytes: Int64, besides content: String? = nil
    ) async throws(UploadError) {
        guard let rest = try await rest(of: application, besides: content) else { return }
        guard bytes <= rest else { throw .quotaExceeded(settings.applicationQuota ?? 0) }
    }

    /// How many bytes an application may store besides its content; `nil` for no limit.
    func rest(
        of application: String, besides content: String? = nil
    ) async throws(UploadError) -> Int64? {
        guard let quota = settings.applicationQuota else { return nil }
        do {
            return quota - (try await finisher.storedBytes(of: application, besides: content))
        } catch {
            // When the size is unknown, nothing is accepted.
            throw .backend
        }
    }

    /// Requires that an application may store that many bytes besides its content and all its uploads; 0 checks the
    /// uploads themselves.
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
    /// Computes the digests of a whole content: reads the bytes that a digest has not seen, and computes SHA-512
    /// where it is wanted.
    ///
    /// Reads in chunks, because other uploads use the same queue.
    func digests(
        of content: OpenContent, length: Int64, from known: RunningHashes, withSHA512 isWanted: Bool
    ) async throws(StorageError) -> (hashes: RunningHashes, sha512: [UInt8]?) {
        var hashes = known
        var sha512 = isWanted ? SHA512() : nil
        var position = isWanted ? 0 : hashes.slowestPosition
        var reader = content.reader(position..<length)
        while let piece = try await reader.next() {
            // The digests may be at different positions; each takes only bytes that continue it.
            hashes.catchUp(piece, at: position)
            sha512?.update(piece.span)
            position += Int64(piece.count)
        }
        guard hashes.slowestPosition == length else { throw .lost }
        return (hashes, sha512?.digest)
    }
}
