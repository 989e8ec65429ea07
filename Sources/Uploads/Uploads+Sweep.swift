internal import Blobs
internal import SystemSupport

extension Uploads {
    /// One run of the sweeper (§11.8): ends what is past its time, forgets what ended long ago, deletes
    /// the bytes of contents nobody needs; at most 1,000 of each.
    ///
    /// Never touches an upload with a running writer.
    ///
    /// What several processes share is swept by one of them at a time.
    func sweep() async {
        await engine.records.runExclusively { [self] in
            await endUploads()
            await eraseContents()
            let ledger = engine.ledger
            await engine.storage.tidy { content in ledger.withLock { $0.isUnderWay(content) } }
        }
        await engine.shared?.tidyHere()
    }

    /// Does what cannot wait for the next run.
    func endUploadsExclusively() async {
        await engine.records.runExclusively { [self] in await endUploads() }
    }

    /// Ends what is past its time, and finishes what nobody else goes on to finish.
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
            // What was still being finished when the list was made is due much later by now: its
            // answer is owed to a client that has not heard it.
            case .complete, .failed, .cancelled, .expired:
                if record.expiresAt <= engine.clock.now() { await forget(name) }
            }
        }
    }

    /// Bytes first, and then the one who named them is told: a crash between repeats a deletion.
    private func eraseContents() async {
        let (engine, limit) = (engine, 100)
        for _ in 0..<10 {
            do {
                let abandoned = try await engine.finisher.abandoned(
                    unusedSince: engine.clock.now() - engine.settings.unusedTTL, limit: limit)
                var erased: [AbandonedContent] = []
                for content in abandoned where await erase(content) { erased.append(content) }
                if !erased.isEmpty { try await engine.finisher.erased(erased) }
                if erased.count < limit { return }
            } catch {
                // Whatever was not told is named again, and deleted again without harm.
                return
            }
        }
    }

    private func erase(_ content: AbandonedContent) async -> Bool {
        // A name no file can have has no bytes.
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
            // It stays in the ledger and is tried again by the next run.
        }
    }
}
