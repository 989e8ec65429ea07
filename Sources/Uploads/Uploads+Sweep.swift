internal import Blobs
internal import Locking

extension Uploads {
    /// Ends what is past its time and forgets what ended long ago (§11.8), at most 1,000 a run.
    ///
    /// Never touches an upload with a running writer.
    func sweep() async {
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

    private func forget(_ name: BlobName) async {
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
