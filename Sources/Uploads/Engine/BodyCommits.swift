internal import Blobs
internal import HTTP
internal import SystemSupport

/// The commits that run while a body still arrives (§4.1, step 8).
struct BodyCommits {
    /// Reports which bytes are written; `nil` where nothing may be committed before the end.
    fileprivate var writer: BodyWriter?
    /// The file that is written.
    fileprivate var file: StagedFile?
    /// The number of bytes of the body that were submitted to the writer.
    fileprivate var submitted: Int64 = 0
    /// Requests that wait until more bytes were submitted.
    fileprivate var waiting = WaitingList()
    /// The body has ended, and its last bytes are being committed.
    fileprivate var isEnding = false
    /// The running commit.
    fileprivate var running: Task<Void, Never>?
    /// Why a commit failed; the open file must not be trusted any more.
    fileprivate(set) var error: StorageError?
}

extension Upload {
    /// Allows commits while a body arrives.
    ///
    /// - Parameter writer: `nil` where nothing may be committed before the end of the body.
    func startCommits(of writer: BodyWriter?, _ file: StagedFile) {
        commits = writer.map { writer in BodyCommits(writer: writer, file: file) } ?? BodyCommits()
    }

    /// Starts to make the written bytes durable while the body continues to arrive; one commit at a time.
    ///
    /// The commit covers the bytes written before it began; later ones belong to the next commit, so the writer never
    /// waits. After a failed commit no other one starts: the kernel reports a failed sync only once, so the next
    /// commit would acknowledge lost bytes.
    private func beginCommit() {
        guard commits.error == nil, commits.running == nil, let transfer = commits.writer?.stored,
            transfer.written > record.offset
        else { return }
        let file = commits.file
        commits.running = Task {
            commits.error = await commit(transfer, file)
            commits.running = nil
            if commits.error == nil { commitIfDue() }
        }
    }

    /// Starts a commit when enough bytes are written.
    func commitIfDue() {
        guard let stored = commits.writer?.stored else { return }
        if stored.written - record.offset >= engine.settings.commitBytes { beginCommit() }
    }

    /// Starts to commit at regular intervals, also while the sender pauses.
    func startCommitTimer() -> Task<Void, Never> {
        let (clock, interval) = (engine.clock, engine.settings.commitInterval)
        return Task {
            while !Task.isCancelled {
                await clock.sleep(interval)
                if Task.isCancelled { return }
                await commitReceived()
                if Task.isCancelled { return }
                await checkOtherProcesses()
            }
        }
    }

    /// Records that bytes of the body were submitted to the writer.
    func noteSubmitted(_ count: Int) {
        commits.submitted += Int64(count)
        commits.waiting.wakeAll()
    }

    /// Records that the turn has ended, and with it the last commit.
    func noteTurnEnd() { commits.isEnding = false }

    /// Makes all bytes durable that a running writer has received so far, including those in the buffer of its
    /// connection; the writer continues (ruling 33).
    ///
    /// When the request ends meanwhile, its last bytes are committed before this returns. The bytes of an atomic
    /// request are not visible before its end, so this does not wait for them.
    func commitReceived() async {
        let number = turn.number
        guard let body = turn.body, let writer = commits.writer else {
            if commits.isEnding {
                await waitForEnd(ofTurn: number)
            } else if !turn.isTaken {
                await commitInOtherProcess()
            }
            return
        }
        let received = await body.completePendingRead()
        while commits.writer === writer, commits.submitted < received {
            _ = await withCheckedContinuation { continuation in
                commits.waiting.add(commits.waiting.number(), continuation)
            }
        }
        if commits.writer === writer { await writer.finishWrites() }
        let written = writer.stored.written
        while commits.writer === writer, commits.error == nil, record.offset < written {
            beginCommit()
            await commits.running?.value
        }
        if commits.writer !== writer { await waitForEnd(ofTurn: number) }
    }

    /// Waits while three parts or more have arrived that the bucket does not hold yet (§10.5).
    func waitForParts(_ written: Int64, of append: AppendRequest) async {
        guard let shared = engine.shared, !append.isAtomic else { return }
        let size = record.held?.partSize ?? shared.begin(record.length).partSize
        while written - record.offset >= 3 * size, commits.error == nil, !turn.isInterrupted {
            beginCommit()
            guard let running = commits.running else { return }
            await running.value
        }
    }

    /// Waits for the running commit and lets no other one start.
    ///
    /// - Returns: Why a commit failed, or `nil`.
    func endCommits() async -> StorageError? {
        handle.endWriting()
        commits.isEnding = commits.writer != nil
        commits.writer = nil
        commits.file = nil
        commits.waiting.wakeAll()
        await commits.running?.value
        return commits.error
    }
}
