internal import Blobs
internal import SystemSupport

extension Uploads {
    /// Runs the sweeper once (§11.8): ends expired uploads, deletes the records of uploads that ended long ago, and
    /// deletes the bytes of unused content; at most 1,000 of each.
    ///
    /// Uploads with a running writer are left alone. Of several processes one sweeps at a time.
    func sweep() async {
        await engine.records.runExclusively { [self] in
            await endUploads()
            await eraseContents()
            let ledger = engine.ledger
            await engine.storage.tidy { content in ledger.withLock { $0.isStaged(content) } }
        }
        await engine.shared?.removeUnusedCopies()
    }

    /// Does the part of the sweeper's work that cannot wait for the next run.
    func endUploadsExclusively() async {
        await engine.records.runExclusively { [self] in await endUploads() }
    }

    /// Ends expired uploads, and finishes those that no process is finishing.
    private func endUploads() async {
        let engine = engine
        let due: [BlobName]
        do throws(StorageError) {
            due = try await engine.records.due(at: engine.clock.now(), limit: 1000)
        } catch {
            return
        }
        for name in due {
            guard let upload = try? await checkOut(name) else { continue }
            defer { checkIn(name) }
            let record = await upload.record
            if record.isKeptPart {
                _ = await upload.expire()
                continue
            }
            switch record.state {
            case .created, .receiving: _ = await upload.expire()
            case .finalizing: _ = await upload.finish()
            // An upload that was finishing when the list was made may be complete now. Its record must stay,
            // because the client has not received the response yet.
            case .complete, .failed, .cancelled, .expired:
                if record.expiresAt <= engine.clock.now() { await forget(name) }
            }
        }
    }

    /// Deletes the bytes first and then calls the finisher; after a crash in between the deletion is repeated.
    private func eraseContents() async {
        let (engine, limit) = (engine, 100)
        let before = engine.statistics.withLock { statistics in
            (statistics.erased, statistics.erasedBytes)
        }
        defer {
            let now = engine.clock.now()
            engine.statistics.withLock { statistics in
                statistics.lastSweep = UploadSweep(
                    contents: statistics.erased - before.0,
                    bytes: statistics.erasedBytes - before.1, endedAt: now)
            }
        }
        for _ in 0..<10 {
            do {
                let abandoned = try await engine.finisher.abandoned(
                    unusedSince: engine.clock.now() - engine.settings.unusedTTL, limit: limit)
                var erased: [AbandonedContent] = []
                for content in abandoned where await erase(content) { erased.append(content) }
                if !erased.isEmpty { try await engine.finisher.erased(erased) }
                if erased.count < limit { return }
            } catch {
                // Content that was not reported is listed again and deleted again without harm.
                return
            }
        }
    }

    private func erase(_ content: AbandonedContent) async -> Bool {
        // An invalid file name has no bytes.
        guard let name = BlobName(content.contentID) else { return true }
        let engine = engine
        do throws(StorageError) {
            let freed = try await engine.storage.erase(name)
            engine.statistics.withLock { statistics in
                statistics.erased += 1
                statistics.erasedBytes += freed
            }
            return true
        } catch {
            return false
        }
    }

    func forget(_ name: BlobName) async {
        let engine = engine
        do throws(StorageError) {
            if let kept = try await engine.records.find(name) {
                try await engine.records.forget(kept)
            }
            engine.ledger.withLock { $0.forget(name) }
        } catch {
            // The record stays in the ledger, and the next run retries.
        }
    }
}
