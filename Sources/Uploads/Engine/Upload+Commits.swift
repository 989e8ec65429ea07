internal import Blobs

/// The commits that are made while a body still arrives (§4.1, step 8).
struct Commits {
    /// Knows what is written; `nil` where nothing may be committed on the way.
    var stores: Stores?
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
    func beginCommit(_ file: StagedFile) {
        guard commits.fault == nil, commits.running == nil, let transfer = commits.stores?.stored,
            transfer.written > record.offset
        else { return }
        commits.running = Task {
            commits.fault = await commit(transfer, file)
            commits.running = nil
            if commits.fault == nil { commitWhenMuch(file) }
        }
    }

    /// Commits by bytes.
    func commitWhenMuch(_ file: StagedFile) {
        guard let stored = commits.stores?.stored else { return }
        if stored.written - record.offset >= engine.settings.commitBytes { beginCommit(file) }
    }

    /// Commits by time, also when a sender falls silent.
    func commitRegularly(_ file: StagedFile) -> Task<Void, Never> {
        let (clock, interval) = (engine.clock, engine.settings.commitInterval)
        return Task {
            while !Task.isCancelled {
                await clock.sleep(interval)
                if Task.isCancelled { return }
                beginCommit(file)
                if commits.running == nil { await lookForOthers() }
            }
        }
    }

    /// Waits for the commit that runs, and has no other begin; what the last one left wrong, if anything.
    func endCommits() async -> StorageError? {
        commits.stores = nil
        await commits.running?.value
        return commits.fault
    }
}
