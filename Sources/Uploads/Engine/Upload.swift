internal import Blobs
internal import HTTP
internal import Locking

/// One upload while somebody deals with it: the serial owner of its state (§11.4).
///
/// Between requests an upload is a record on the disk and nothing in memory. Only the holder of the
/// turn changes the record; the committed record is what everybody else sees, at any time.
actor Upload {
    let name: BlobName
    let engine: UploadEngine
    let active: ActiveUploads
    let queue: WorkQueue
    let keeper: any RecordKeeper
    /// As it is on the disk; every number in it is durable.
    var record: UploadRecord

    // The turn: one writer at a time.
    var isTaken = false
    var holder: (any RequestBody)?
    var waiting = WaitingList()
    /// How many turns have ended.
    var turns = 0
    /// Requests that wait for the end of a turn, and do not want one.
    var left = WaitingList()
    /// From where the running writer began to where it has received.
    var reach: ClosedRange<Int64>?
    var watch: Append.Watch?
    var isStopping = false
    var commits = Commits()

    // Bytes on their way to where contents lie; nobody moves them on a disk.
    var mover: PartMover?
    var roomWait: Task<Bool, Never>?
    /// The writer was told to let go.
    var isInterrupted = false

    // Another process may go on with it at any time.
    /// Just loaded, so nobody can know better.
    var isFresh = true
    /// Another process has taken over; whoever comes now needs another owner of the state.
    var isFenced = false

    // Finalizing: at most one task, whoever asks.
    var finalizing: Task<Void, Never>?
    var ended = WaitingList()
    var fault: UploadError?

    init(
        _ kept: KeptRecord, _ engine: UploadEngine, _ active: ActiveUploads
    ) {
        name = kept.name
        self.engine = engine
        self.active = active
        record = kept.record
        keeper = kept.keeper
        queue = engine.queues[name]
    }

    /// The state with every byte a running writer has received, committed; the writer goes on (§3.8).
    func receivedStatus() async -> UploadRecord {
        if record.state.isOpen { await commitReceived() }
        return status
    }

    /// The committed state; a running writer goes on.
    var status: UploadRecord {
        var status = record
        if isExpired { status.state = .expired }
        return status
    }

    /// The committed state once a running writer has let go: what the next request may go on from
    /// (§6.4).
    func settledStatus() async throws(UploadError) -> UploadRecord {
        if record.state.isOpen {
            try await takeTurn()
            leaveTurn()
        }
        return status
    }

    /// Past its time, with nobody writing.
    var isExpired: Bool {
        record.mayExpire && !isTaken && record.expiresAt <= engine.clock.now()
    }

    /// The name of the bytes, staged and published.
    var blob: BlobName {
        // Checked when the upload was created; a record that names no blob finds no file.
        BlobName(record.contentID) ?? name
    }
}
