internal import Blobs
internal import ObjectStore

extension SharedStorage {
    /// Makes the object of an upload that has all its bytes (§10.6).
    ///
    /// No more bytes are added, so this may be repeated after a crash, also by another process at the same time.
    ///
    /// - Throws: ``StorageError/lost`` when neither the object nor its parts exist.
    func finish(
        _ record: UploadRecord, of name: BlobName, sha256: [UInt8]?, version: Int64
    ) async throws(StorageError) {
        try await bucket.retrying { () throws(StorageError) in
            guard let held = record.held, let upload = held.upload else {
                return try await storeAtOnce(record, of: name, sha256)
            }
            do throws(StorageError) {
                let whole = try await withLastPart(held, record, of: name, version)
                try await complete(whole, upload, of: name)
            } catch {
                // Only the object shows whether the response or the parts were lost.
                guard error == .lost else { throw error }
            }
            try await requireObject(record.offset, of: name)
        }
    }

    private func storeAtOnce(
        _ record: UploadRecord, of name: BlobName, _ sha256: [UInt8]?
    ) async throws(StorageError) {
        let file = try await stage(record, of: name)
        do throws(ObjectStoreError) {
            _ = try await store.put(
                bucket.key(name), .bytes(0..<record.offset, read: file.read),
                type: record.storedType, sha256: sha256)
        } catch {
            throw StorageError(error)
        }
    }

    private func withLastPart(
        _ held: StoredParts, _ record: UploadRecord, of name: BlobName, _ version: Int64
    ) async throws(StorageError) -> StoredParts {
        guard held.base < record.offset else { return held }
        var whole = held
        let file = try await stage(record, of: name)
        whole.append(
            try await put(file, held.base..<record.offset, behind: held, of: name, version))
        return whole
    }

    private func complete(
        _ held: StoredParts, _ upload: String, of name: BlobName
    ) async throws(StorageError) {
        do throws(ObjectStoreError) {
            try await store.complete(bucket.key(name), upload: upload, held.parts)
        } catch {
            switch error.kind {
            case .invalidParts, .partTooSmall: throw .lost
            default: throw StorageError(error)
            }
        }
    }

    private func requireObject(
        _ size: Int64, of name: BlobName
    ) async throws(StorageError) {
        let summary: ObjectSummary?
        do throws(ObjectStoreError) {
            summary = try await store.head(bucket.key(name))
        } catch {
            throw StorageError(error)
        }
        guard summary?.size == size else { throw .lost }
    }
}

extension SharedStorage {
    /// A complete partial upload: an object that is not content.
    typealias Source = (name: BlobName, length: Int64)

    /// The minimum size of every part but the last, and the maximum, in bytes (§10.2).
    private static let partSizes: ClosedRange<Int64> = 5 << 20...5 << 30

    /// Concatenates complete partial uploads (§10.6).
    ///
    /// When they are long enough, the bucket copies them itself; otherwise they are downloaded and stored again.
    ///
    /// - Throws: ``StorageError/missing`` when one of them does not exist any more.
    func join(
        _ sources: [Source], for record: UploadRecord, of name: BlobName
    ) async throws(StorageError) -> StoredParts {
        let sources = sources.filter { source in source.length > 0 }
        let isLong = sources.dropLast().allSatisfy { source in
            source.length >= Self.partSizes.lowerBound
        }
        // An upload short enough for a single PUT needs no parts.
        if isLong, needsParts(begin(record.length), record.length) {
            return try await copy(sources, record, to: name)
        }
        return try await download(sources, record, to: name)
    }

    private func copy(
        _ sources: [Source], _ record: UploadRecord, to name: BlobName
    ) async throws(StorageError) -> StoredParts {
        // Parts are as long as their sources and numbered consecutively.
        var held = StoredParts(partSize: Self.partSizes.upperBound, longest: .max)
        held.upload = try await begun(name, record.storedType)
        do throws(StorageError) {
            for source in sources {
                let count = (source.length - 1) / Self.partSizes.upperBound + 1
                for part in 0..<count {
                    let range =
                        source.length * part / count..<source.length * (part + 1) / count
                    held.append(try await copy(source.name, range, behind: held, to: name))
                }
            }
            return held
        } catch {
            if let upload = held.upload { await abort(upload, of: name) }
            throw error
        }
    }

    private func copy(
        _ source: BlobName, _ range: Range<Int64>, behind held: StoredParts, to name: BlobName
    ) async throws(StorageError) -> ObjectPart {
        guard let upload = held.upload else { throw .lost }
        do throws(ObjectStoreError) {
            return try await store.copyPart(
                bucket.key(name), upload: upload, number: held.nextNumber(0),
                from: bucket.key(source), range: range)
        } catch {
            throw StorageError(error)
        }
    }

    private func download(
        _ sources: [Source], _ record: UploadRecord, to name: BlobName
    ) async throws(StorageError) -> StoredParts {
        let file = try await work(on: name) { blobs throws(DiskError) in
            let file = try blobs.stage(name)
            try file.truncate(to: 0)
            return file
        }
        var position: Int64 = 0
        for source in sources {
            let reader = try await bucket.open(source.name).reader(0..<source.length)
            position = try await write(reader, from: position, to: file, of: name)
        }
        return try await keep(file, for: record, of: name, version: 0)
    }
}
