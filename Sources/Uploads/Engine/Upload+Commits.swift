internal import Blobs
internal import HTTP

/// The commits that are made while a body still arrives (§4.1, step 8).
struct Commits {
    /// Knows what is written; `nil` where nothing may be committed on the way.
    var stores: Stores?
    /// Where it is written.
    var file: StagedFile?
    /// How many bytes of the body were handed over to be written.
    var count: Int64 = 0
    /// Requests that wait until more bytes were handed over.
    var waiting = WaitingList()
    /// The body has ended, and its last bytes are being committed.
    var isEnding = false
    /// The commit that runs now.
    var running: Task<Void, Never>?
    /// A commit failed; the open file is not to be trusted any more.
    var fault: StorageError?
}

extension Upload {
    /// Makes what is written durable, beside the receiving; one commit at a time.
    ///
    /// It speaks of the bytes written before it began. Those written meanwhile are the next one's,
    /// so nobody has to wait. After one that failed there is none: the kernel tells a failed sync
    /// once, so the next would promise what is lost.
    func beginCommit() {
        guard commits.fault == nil, commits.running == nil, let transfer = commits.stores?.stored,
            transfer.written > record.offset
        else { return }
        let file = commits.file
        commits.running = Task {
            commits.fault = await commit(transfer, file)
            commits.running = nil
            if commits.fault == nil { commitWhenMuch() }
        }
    }

    /// Commits by bytes.
    func commitWhenMuch() {
        guard let stored = commits.stores?.stored else { return }
        if stored.written - record.offset >= engine.settings.commitBytes { beginCommit() }
    }

    /// Commits by time, also when a sender falls silent.
    func commitRegularly() -> Task<Void, Never> {
        let (clock, interval) = (engine.clock, engine.settings.commitInterval)
        return Task {
            while !Task.isCancelled {
                await clock.sleep(interval)
                if Task.isCancelled { return }
                await commitReceived()
                if Task.isCancelled { return }
                await lookForOthers()
            }
        }
    }

    /// Notes that bytes of the body were handed over to be written.
    func noteHandedOver(_ count: Int) {
        commits.count += Int64(count)
        commits.waiting.wakeAll()
    }

    /// Makes durable what a running writer has received by now, also what its connection still holds,
    /// while it goes on (ruling 33).
    ///
    /// A request that ends meanwhile has its last bytes committed before this returns. Of an atomic
    /// request nothing can be seen before its end, so there is nothing to wait for.
    func commitReceived() async {
        let turn = turns
        guard let holder, let stores = commits.stores else {
            if commits.isEnding {
                await untilLeft(turn)
            } else if !isTaken {
                await commitElsewhere()
            }
            return
        }
        let received = await holder.handOver()
        while commits.stores === stores, commits.count < received {
            _ = await withCheckedContinuation { continuation in
                commits.waiting.add(commits.waiting.number(), continuation)
            }
        }
        if commits.stores === stores { await stores.finishLoads() }
        let written = stores.stored.written
        while commits.stores === stores, commits.fault == nil, record.offset < written {
            beginCommit()
            await commits.running?.value
        }
        if commits.stores !== stores { await untilLeft(turn) }
    }

    /// Waits for the commit that runs, and has no other begin; what the last one left wrong, if anything.
    func endCommits() async -> StorageError? {
        keeper.endWriting()
        commits.isEnding = commits.stores != nil
        commits.stores = nil
        commits.file = nil
        commits.waiting.wakeAll()
        await commits.running?.value
        return commits.fault
    }
}
