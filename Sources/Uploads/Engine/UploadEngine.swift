internal import Blobs
internal import Locking

/// What every upload shares: folders, queues, time, and who is told at the end.
struct UploadEngine: Sendable {
    let settings: UploadSettings
    let clock: UploadClock
    let blobs: BlobFolder
    let records: RecordFolder
    let finisher: any UploadFinisher
    let ledger: Locked<Ledger>
    let queues: WorkQueues
    let statistics = Locked(UploadStatistics())

    /// Writes what the ledger has to know of a record.
    func note(_ name: BlobName, _ record: UploadRecord) {
        ledger.withLock { ledger in
            ledger.enter(name, record, unknown: settings.unknownReservation)
        }
    }

    /// Whether all promises fit the disk with so many more bytes. Waits for the disk.
    func requireRoom(for more: Int64 = 0) throws(DiskError) {
        let space = try blobs.freeSpace()
        let headroom = settings.diskHeadroom ?? max(1 << 30, space.total / 20)
        let promised = ledger.withLock { $0.reserved }
        let (needed, overflow) = promised.addingReportingOverflow(more)
        guard !overflow, needed <= space.available - headroom else {
            throw DiskError(kind: .full, operation: "reserve")
        }
    }
}
