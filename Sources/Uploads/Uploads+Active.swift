internal import Blobs
internal import Digests
internal import Locking

extension Uploads {
    /// The one owner of an upload's state, made from its record when nobody deals with it yet.
    ///
    /// - Returns: `nil` when there is no such upload; each other result is given back by
    ///   ``checkIn(_:)``.
    /// - Throws: When nobody could look (``UploadError/busy``, ``UploadError/backend``).
    func checkOut(_ name: BlobName) async throws(UploadError) -> Upload? {
        for _ in 0..<Uploads.patience {
            // Entered before it is loaded: a record read while another owner of the same upload still
            // writes would be stale by the time it is used.
            let loading = active.enter(name) { load(name) }
            do throws(UploadError) {
                guard let upload = try await loaded(loading) else {
                    checkIn(name)
                    return nil
                }
                if try await upload.isCurrent() {
                    // Only uploads in use when the server began to stop were told so.
                    if isStopping.withLock({ $0 }) { await upload.stop() }
                    return upload
                }
            } catch {
                checkIn(name)
                if error == .notFound { return nil }
                throw error
            }
            checkIn(name)
            // Those whose requests another process has overtaken are on their way out.
            await pause(milliseconds: 10)
        }
        throw .locked
    }

    /// How often one looks again until they are gone.
    private static let patience = 1000

    private func loaded(
        _ loading: Task<ActiveUploads.Loaded, Never>
    ) async throws(UploadError) -> Upload? {
        do throws(StorageError) {
            return try await loading.value.get()
        } catch {
            throw UploadError(error)
        }
    }

    /// Lets go; an upload nobody deals with costs no memory and no open file.
    func checkIn(_ name: BlobName) {
        // Others may go on with it now, and what they come to is not known here.
        if active.leave(name), engine.shared != nil {
            engine.ledger.withLock { ledger in ledger.leave(name) }
        }
    }

    /// Does what another process asks of this one, which receives the body of an upload (ruling 33).
    ///
    /// - Parameters:
    ///   - name: Of the record, as the ``UploadRegistry`` knows it.
    ///   - holder: Who is asked, in hexadecimal digits; others do nothing.
    public func answer(_ request: UploadRequest, for name: String, at holder: String) {
        guard let shelf = engine.shared?.shelf, holder == String(hexadecimal: shelf.holder),
            let name = BlobName(name)
        else { return }
        Task {
            // Who waits goes on without an answer.
            guard let upload = try? await checkOut(name) else { return }
            await upload.answer(request)
            checkIn(name)
        }
    }

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
            do throws(StorageError) {
                let found = try await engine.records.find(name)
                return .success(found.map { kept in Upload(kept, engine, active) })
            } catch {
                return .failure(error)
            }
        }
    }
}
