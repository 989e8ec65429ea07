internal import HTTP
internal import SystemSupport

/// The bytes of an upload on their way from the local disk to a bucket (§10.5).
struct BucketParts {
    /// `nil` on a local disk.
    fileprivate var uploader: PartUploader?
    /// The wait of a writer for staging space.
    fileprivate var spaceWait: Task<Bool, Never>?
}

extension Upload {
    /// Resumes sending stored bytes to the bucket, before more bytes arrive.
    ///
    /// - Throws: ``UploadError/gone`` when bytes in the bucket are lost; the upload has failed then.
    func startUploader() async throws(UploadError) {
        // A partial upload of a concatenation stays on the disk until it is joined.
        guard !record.tus.isPartial, let uploader = engine.storage.uploader(of: staging.blob) else {
            return
        }
        parts.uploader = uploader
        do throws(StorageError) {
            try await uploader.known()
        } catch {
            throw UploadError(error)
        }
        if await uploader.isLost {
            await fail(.storageLost)
            throw .gone
        }
        await advanceUploader()
    }

    /// Reports to the uploader, if there is one, how many bytes are durable.
    func advanceUploader() async {
        guard let uploader = parts.uploader else { return }
        await uploader.advance(
            to: record.offset, length: record.length,
            mediaType: record.storedType)
    }

    /// Fills a buffer from the body, after waiting for staging space.
    func fill(
        _ buffer: inout BodyBuffer, from body: any RequestBody, behind written: Int64,
        of append: AppendRequest
    ) async -> BodyEnd? {
        // Uncommitted bytes of an atomic request cannot go to the bucket, so waiting would not free space.
        if let uploader = parts.uploader, !append.isAtomic,
            !(await hasSpace(for: written, with: uploader))
        {
            buffer.removeAll()
            return .broken(.stalled)
        }
        return await body.fill(&buffer)
    }

    /// Waits while the bucket is too far behind, at most as long as a body may pause. A newer request ends the wait;
    /// the next read of the body then fails.
    private func hasSpace(for written: Int64, with uploader: PartUploader) async -> Bool {
        if await uploader.hasSpace(for: written) || turn.isInterrupted { return true }
        let wait = Task { await uploader.waitForSpace(for: written) }
        parts.spaceWait = wait
        let (clock, limit) = (engine.clock, engine.settings.bodyIdleTimeout)
        let timer = Task {
            await clock.sleep(limit)
            // A cancelled timer must not cancel the wait.
            if !Task.isCancelled { wait.cancel() }
        }
        defer {
            timer.cancel()
            parts.spaceWait = nil
        }
        return await wait.value || turn.isInterrupted
    }

    /// Ends the wait of a writer for staging space.
    func cancelWaitForSpace() { parts.spaceWait?.cancel() }
}
