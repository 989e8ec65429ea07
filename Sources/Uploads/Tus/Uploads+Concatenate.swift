internal import Blobs
internal import Bytes
internal import HTTP
internal import SystemSupport

extension Uploads {
    /// A complete partial upload.
    private struct Part: Sendable {
        let blob: BlobName
        let length: Int64
        let crc32c: UInt32
    }

    /// Joins partial uploads to one that has all its bytes and is finished next (§6.10).
    ///
    /// The bytes are durable before the record exists. A crash leaves either a file without a record, which
    /// recovery deletes, or a record that recovery finishes.
    func concatenate(
        _ tokens: [UploadToken], _ draft: UploadDraft, stated: Int64?
    ) async throws(UploadError) -> CreatedUpload {
        let engine = engine
        guard let blob = BlobName(draft.contentID) else { throw .backend }
        let parts = try await self.parts(tokens, of: draft.owner)
        let length = try Uploads.sum(parts, limit: engine.settings.maxUploadSize)
        if let stated, stated != length {
            throw .lengthMismatch(
                "Upload-Length must be the sum of the parts of the concatenation, \(length) bytes; correct it or leave it out."
            )
        }
        return try await claiming(for: draft.owner, length: length) { claim throws(UploadError) in
            var record = joined(parts, draft, length)
            record.held = try await join(parts, for: record, to: blob)
            do throws(UploadError) {
                return try await enter(record, for: claim)
            } catch {
                await discard(blob)
                if let upload = record.held?.upload {
                    await engine.shared?.abort(upload, of: blob)
                }
                throw error
            }
        }
    }

    /// The record of the joined upload.
    private func joined(_ parts: [Part], _ draft: UploadDraft, _ length: Int64) -> UploadRecord {
        var record = UploadRecord(
            draft, creation: .tus, at: engine.clock.now(), lifetime: engine.settings.firstLifetime)
        record.state = .finalizing
        record.length = length
        record.offset = length
        // Computed from the parts without reading them; the joined copy, which is read for its SHA-256, must match.
        record.declared.crc32c = parts.reduce(0) { crc, part in
            CRC32C.combine(crc, with: part.crc32c, of: part.length)
        }
        return record
    }

    /// The referenced partial uploads, which must be complete and belong to the same application (§6.10).
    private func parts(
        _ tokens: [UploadToken], of owner: UploadOwner
    ) async throws(UploadError) -> [Part] {
        var parts: [Part] = []
        for token in tokens {
            guard let name = token.recordName, let upload = try await checkOut(name) else {
                throw .notFound
            }
            let record = await upload.status
            checkIn(name)
            // An upload of another application is treated as unknown.
            guard record.owner.application == owner.application else { throw .notFound }
            if record.state.isGone { throw .gone }
            guard record.tus.isPartial else {
                throw .invalid(
                    "Upload-Concat lists an upload that is not partial; create the parts with Upload-Concat: partial."
                )
            }
            guard record.isKeptPart, let blob = BlobName(record.contentID) else {
                throw .invalid(
                    "Upload-Concat lists a partial upload that is incomplete; send its bytes before concatenating."
                )
            }
            parts.append(
                Part(blob: blob, length: record.offset, crc32c: record.hashes.crc32c.value))
        }
        return parts
    }

    private static func sum(_ parts: [Part], limit: Int64) throws(UploadError) -> Int64 {
        var sum: Int64 = 0
        for part in parts {
            let (next, overflow) = sum.addingReportingOverflow(part.length)
            if overflow || next > limit { throw .tooLarge(limit: limit) }
            sum = next
        }
        return sum
    }

    /// Joins the parts, durably.
    ///
    /// - Returns: The parts of the result in the bucket, if several processes share uploads.
    private func join(
        _ parts: [Part], for record: UploadRecord, to blob: BlobName
    ) async throws(UploadError) -> StoredParts? {
        do throws(StorageError) {
            guard let shared = engine.shared else {
                try await join(parts, to: blob)
                return nil
            }
            return try await shared.join(
                parts.map { part in (part.blob, part.length) }, for: record, of: blob)
        } catch {
            throw error == .missing ? .gone : UploadError(error)
        }
    }

    /// Copies the parts into one staged file, durably; 32 MiB at a time, because other uploads use the same queue.
    private func join(
        _ parts: [Part], to blob: BlobName
    ) async throws(StorageError) {
        let (engine, queue) = (engine, engine.queues[blob])
        do throws(DiskError) {
            let file = try await queue.run { () throws(DiskError) in
                try engine.requireDiskSpace()
                return try engine.blobs.stage(blob)
            }
            var offset: Int64 = 0
            for part in parts where part.length > 0 {
                let source = try await queue.run { () throws(DiskError) in
                    try engine.blobs.openStaged(part.blob)
                }
                for start in stride(from: 0, to: part.length, by: Int(Uploads.piece)) {
                    let range = start..<min(start + Uploads.piece, part.length)
                    let target = offset + start
                    try await queue.run { () throws(DiskError) in
                        try file.copy(range, of: source, to: target)
                    }
                }
                offset += part.length
            }
            try await queue.run { () throws(DiskError) in try file.commit() }
        } catch {
            await discard(blob)
            throw StorageError(error)
        }
    }

    /// Removes the joined bytes of an upload that was not created; the sweeper removes what cannot be removed now.
    private func discard(_ blob: BlobName) async {
        let engine = engine
        _ = try? await engine.queues[blob].run { () throws(DiskError) in
            try engine.blobs.discard(blob)
        }
    }

    private static let piece: Int64 = 32 << 20
}
