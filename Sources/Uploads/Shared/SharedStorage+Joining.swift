internal import Blobs
internal import ObjectStore

extension SharedStorage {
    /// A finished part of a concatenation: an object that is no content.
    typealias Source = (name: BlobName, length: Int64)

    /// The shortest part but the last, in bytes, and the longest (§10.2).
    private static let partSizes: ClosedRange<Int64> = 5 << 20...5 << 30

    /// Holds the bytes of finished parts one behind the other (§10.6).
    ///
    /// Where they are long enough the store copies them itself; otherwise they come here and go back.
    ///
    /// - Throws: ``StorageError/missing`` when one is not there any more.
    func join(
        _ sources: [Source], for record: UploadRecord, of name: BlobName
    ) async throws(StorageError) -> HeldParts {
        let sources = sources.filter { source in source.length > 0 }
        let isLong = sources.dropLast().allSatisfy { source in
            source.length >= Self.partSizes.lowerBound
        }
        // What is stored at once needs no parts.
        if isLong, needsParts(begin(record.length), record.length) {
            return try await copy(sources, record, to: name)
        }
        return try await bring(sources, record, to: name)
    }

    private func copy(
        _ sources: [Source], _ record: UploadRecord, to name: BlobName
    ) async throws(StorageError) -> HeldParts {
        // As long as its sources are, and numbered one after another.
        var held = HeldParts(partSize: Self.partSizes.upperBound, longest: .max)
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
        _ source: BlobName, _ range: Range<Int64>, behind held: HeldParts, to name: BlobName
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

    private func bring(
        _ sources: [Source], _ record: UploadRecord, to name: BlobName
    ) async throws(StorageError) -> HeldParts {
        let file = try await work(on: name) { blobs throws(DiskError) in
            let file = try blobs.stage(name)
            try file.truncate(to: 0)
            return file
        }
        var place: Int64 = 0
        for source in sources {
            let reader = try await bucket.open(source.name).reader(0..<source.length)
            place = try await bring(reader, from: place, to: file, of: name)
        }
        return try await keep(file, for: record, of: name, version: 0)
    }
}
