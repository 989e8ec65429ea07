internal import Blobs
internal import Locking

extension Uploads {
    /// The one owner of an upload's state, made from its record when nobody deals with it yet.
    ///
    /// - Returns: `nil` when there is no such upload; each other result is given back by
    ///   ``checkIn(_:)``.
    /// - Throws: When nobody could look (``UploadError/busy``, ``UploadError/backend``).
    func checkOut(_ name: BlobName) async throws(UploadError) -> Upload? {
        // Entered before it is loaded: a record read while another owner of the same upload still
        // writes would be stale by the time it is used.
        let loading = active.enter(name) { load(name) }
        do throws(DiskError) {
            if let upload = try await loading.value.get() { return upload }
        } catch {
            checkIn(name)
            throw UploadError(error)
        }
        checkIn(name)
        return nil
    }

    /// Lets go; an upload nobody deals with costs no memory and no open file.
    func checkIn(_ name: BlobName) { active.leave(name) }

    /// Goes on with an upload that was being finished.
    func resume(_ name: BlobName) {
        Task {
            guard let upload = try? await checkOut(name) else { return }
            _ = await upload.finish()
            checkIn(name)
        }
    }

    /// Goes on moving what an upload held before a crash.
    func goOnMoving(_ record: UploadRecord) {
        guard record.offset >= PartSize.least, let blob = BlobName(record.contentID),
            let mover = engine.storage.mover(of: blob)
        else { return }
        Task {
            await mover.advance(
                to: record.offset, length: record.length, mediaType: record.storedType)
        }
    }

    private func load(_ name: BlobName) -> Task<ActiveUploads.Loaded, Never> {
        let (engine, active) = (engine, active)
        return Task {
            do throws(DiskError) {
                let found = try await engine.queues[name].run { () throws(DiskError) in
                    try engine.records.find(name)
                }
                return .success(found.map { Upload(name, $0.file, $0.record, engine, active) })
            } catch {
                return .failure(error)
            }
        }
    }
}
