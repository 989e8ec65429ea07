internal import Blobs
internal import Locking

extension Uploads {
    /// One run of the sweeper (§11.8): ends what is past its time, forgets what ended long ago, deletes
    /// the bytes of contents nobody needs; at most 1,000 of each.
    ///
    /// Never touches an upload with a running writer.
    func sweep() async {
        await endUploads()
        await eraseContents()
        let ledger = engine.ledger
        await engine.storage.tidy { content in ledger.withLock { $0.isUnderWay(content) } }
    }

    private func endUploads() async {
        let engine = engine
        let due = engine.ledger.withLock { $0.due(at: engine.clock.now(), limit: 1000) }
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
        do throws(DiskError) {
            try await engine.queues[name].run { () throws(DiskError) in
                try engine.records.delete(name)
            }
            engine.ledger.withLock { $0.forget(name) }
        } catch {
            // It stays in the ledger and is tried again by the next run.
        }
    }
}
