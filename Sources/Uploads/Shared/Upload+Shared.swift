internal import Blobs
internal import Locking

// Where several processes may continue an upload, each of them asks whether it still may (§10.5, §11.4).
extension Upload {
    /// Whether another process may replace the record.
    var isShared: Bool { engine.shared != nil }

    /// Makes sure that no other process writes: the one that does commits what it has received, and stops. From one
    /// that does not answer in time the upload is taken as it was committed last.
    ///
    /// - Parameter isWriting: A body is about to be received, of which others may ask how far it is.
    func takeFromOthers(isWriting: Bool = false) async throws(UploadError) {
        guard isShared else { return }
        do throws(StorageError) {
            let stopped = try await keeper.askWriter(to: .stop)
            if let stopped { record = stopped }
            // It may have received the last byte.
            guard stopped == nil || record.mayExpire else { return }
            let current = try await keeper.take(isWriting: isWriting)
            if let current { record = current }
            if stopped != nil || current != nil {
                engine.count { traffic in traffic.takeovers += 1 }
            }
        } catch {
            throw UploadError(error)
        }
    }

    /// Whether this is the record as it is; of one that another process has replaced meanwhile, what is
    /// left of the requests here is told to stop.
    ///
    /// - Throws: ``UploadError/notFound`` when it was forgotten.
    func isCurrent() async throws(UploadError) -> Bool {
        guard isShared, !isFresh else {
            isFresh = false
            return !isFenced
        }
        do throws(StorageError) {
            guard let current = try await keeper.change() else { return !isFenced }
            guard isTaken || finalizing != nil else {
                record = current
                return !isFenced
            }
            letGo()
            return false
        } catch {
            throw error == .missing ? .notFound : UploadError(error)
        }
    }

    /// Another process has taken over: nothing that is done here counts any more.
    func letGo() {
        isFenced = true
        interrupt()
        finalizing?.cancel()
    }

    /// Looks whether another process has taken over, while a sender is silent.
    func lookForOthers() async {
        guard isShared, !isFenced else { return }
        // What cannot be asked now is asked again.
        if (try? await keeper.change()) != nil { return letGo() }
        if let request = keeper.request { await answer(request) }
    }

    /// Has the process that receives the body commit what it has received, and goes on with its record.
    func commitElsewhere() async {
        guard isShared, !isFenced else { return }
        // Where it cannot be asked, what was committed last is what counts.
        guard let current = try? await keeper.askWriter(to: .commit), !isTaken else { return }
        record = current
    }

    /// Does what another process asks of the one that receives the body.
    func answer(_ request: UploadRequest) async {
        switch request {
        case .commit: await commitReceived()
        case .stop:
            let turn = turns
            if isTaken {
                interrupt()
                await untilLeft(turn)
            }
        }
        await keeper.answer()
    }

    /// Puts what is staged where other processes find it, before the record speaks of it.
    func keep(
        _ file: StagedFile?, for next: UploadRecord
    ) async throws(StorageError) -> HeldParts? {
        guard let shared = engine.shared, let file else { return next.held }
        return try await shared.keep(file, for: next, of: blob, version: keeper.version)
    }

    /// Gives up what a record no longer names, here and there.
    func release(from last: HeldParts?, to next: HeldParts?) async {
        guard let shared = engine.shared, let last, last != next else { return }
        let named = Set((next?.pieces ?? []).map(\.id))
        shared.drop(last.pieces.filter { piece in !named.contains(piece.id) }, of: blob)
        guard let base = next?.base, base > last.base else { return }
        let blob = blob
        // The room is given back when the file goes, too.
        try? await shared.work(on: blob) { blobs throws(DiskError) in
            try blobs.release(blob, upTo: base)
        }
    }

    /// Waits while much more has arrived than is held where other processes find it (§10.5).
    func waitForOthers(_ written: Int64, of append: Append) async {
        guard let shared = engine.shared, !append.isAtomic else { return }
        let size = record.held?.partSize ?? shared.begin(record.length).partSize
        while written - record.offset >= 3 * size, commits.fault == nil, !isInterrupted {
            beginCommit()
            guard let running = commits.running else { return }
            await running.value
        }
    }

    /// Says that it is still being finished here, as long as its task is not cancelled.
    func beat() async {
        guard isShared else { return }
        while !Task.isCancelled {
            await engine.clock.sleep(SharedShelf.beat)
            if Task.isCancelled { return }
            if await write(record) == .fenced { return letGo() }
        }
    }
}
