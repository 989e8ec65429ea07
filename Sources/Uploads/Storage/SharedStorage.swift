internal import Blobs
internal import Bytes
internal import HTTPClient
internal import ObjectStore
internal import SystemSupport

/// Contents in a bucket, and uploads whose every acknowledged byte lies there, too (§10.5, `remote-tail`).
///
/// What is staged on the local disk is a copy: whoever has none brings it here again, as far as no part
/// holds it.
struct SharedStorage: ContentStorage {
    let bucket: BucketStorage
    let queues: WorkQueuePool
    let recordStore: SharedUploadRecords

    var store: ObjectStore { bucket.store }
    var blobs: BlobFolder { bucket.disk.blobs }

    /// Where pieces lie, below the prefix of the store.
    static let folder = "tails/"

    /// The key of a piece.
    func key(_ piece: StoredParts.Piece, of name: BlobName) -> ObjectKey {
        // Made of digits and a name that was checked.
        guard let key = ObjectKey("\(SharedStorage.folder)\(name.text)/\(piece.id)") else {
            preconditionFailure("\(name)")
        }
        return key
    }

    /// Whose piece lies under a key; `nil` for objects of others.
    static func piece(_ key: ObjectKey) -> (name: BlobName, id: String)? {
        let words = key.text.split(separator: "/")
        guard words.count == 3, "\(words[0])/" == folder, let name = BlobName(words[1]) else {
            return nil
        }
        return (name, String(words[2]))
    }

    // MARK: ContentRepository

    func publish(_ content: StagedContent) async throws(StorageError) {
        try await bucket.publish(content)
    }

    func publish(_ archive: Archive, _ content: StagedContent) async throws(StorageError) {
        try await bucket.publish(archive, content)
    }

    func publishStaged(
        _ staged: BlobName, as content: StagedContent
    ) async throws(StorageError) -> Bool {
        try await bucket.publishStaged(staged, as: content)
    }

    func isPublishedHere(_ name: BlobName) async throws(StorageError) -> Bool {
        try await bucket.isPublishedHere(name)
    }

    func open(_ name: BlobName) async throws(StorageError) -> OpenContent {
        try await bucket.open(name)
    }

    func erase(_ name: BlobName) async throws(StorageError) -> Int64 {
        try await bucket.erase(name)
    }

    // MARK: What arrives

    func uploader(of name: BlobName) -> PartUploader? { nil }

    func mostStaged(of length: Int64?) -> Int64 { bucket.mostStaged(of: length) }

    func isFullyStaged(_ name: BlobName) async throws(StorageError) -> Bool { false }

    func cancelParts(of name: BlobName) {}

    /// Ends a multipart upload that no record names any more.
    func abort(_ upload: String, of name: BlobName) async {
        do throws(ObjectStoreError) {
            try await store.abort(bucket.key(name), upload: upload)
        } catch {
            // The sweeper finds what is left.
            bucket.onFault(error)
        }
    }

    /// Deletes pieces that no record names any more; nobody waits for it.
    func drop(_ pieces: [StoredParts.Piece], of name: BlobName) {
        guard !pieces.isEmpty else { return }
        let keys = pieces.map { piece in key(piece, of: name) }
        let (store, onFault) = (store, bucket.onFault)
        Task {
            do throws(ObjectStoreError) {
                for key in keys { try await store.delete(key) }
            } catch {
                onFault(error)
            }
        }
    }

    /// Does something with the staged file of a content, where it may be waited for.
    func work<Value: Sendable>(
        on name: BlobName, _ work: @escaping @Sendable (BlobFolder) throws(DiskError) -> Value
    ) async throws(StorageError) -> Value {
        let blobs = blobs
        do throws(DiskError) {
            return try await queues[name].run { () throws(DiskError) in try work(blobs) }
        } catch {
            throw .disk(error)
        }
    }
}

extension SharedStorage {
    /// So many pieces lie behind the parts at most; one more joins them, so small requests do not make
    /// the record long.
    private static let mostPieces = 16

    /// Makes staged bytes durable in the bucket.
    ///
    /// Nothing that the record names is touched; what comes of it counts once the record says so.
    ///
    /// - Parameters:
    ///   - next: The record as it is going to be.
    ///   - version: Of the record as it is.
    /// - Returns: What lies there then.
    func keep(
        _ file: StagedFile, for next: UploadRecord, of name: BlobName, version: Int64
    ) async throws(StorageError) -> StoredParts {
        var held = next.held ?? begin(next.length)
        let end = next.offset
        while held.base + held.partSize <= end, needsParts(held, next.length) {
            if held.upload == nil { held.upload = try await begun(name, next.storedType) }
            let range = held.base..<held.base + held.partSize
            held.append(try await put(file, range, behind: held, of: name, version))
        }
        guard held.end < end else { return held }
        let isLong = held.pieces.count >= Self.mostPieces
        let range = (isLong ? held.base : held.end)..<end
        if isLong { held.pieces = [] }
        held.pieces.append(try await put(file, range, of: name))
        return held
    }

    /// What an upload begins with.
    func begin(_ length: Int64?) -> StoredParts {
        StoredParts(
            partSize: PartSize.of(length, atMost: bucket.longest),
            longest: length ?? bucket.longest)
    }

    /// A short content is stored at once, when it is whole.
    func needsParts(_ held: StoredParts, _ length: Int64?) -> Bool {
        held.upload != nil || length.map { length in length > held.partSize } ?? true
    }

    func begun(_ name: BlobName, _ type: String) async throws(StorageError) -> String {
        do throws(ObjectStoreError) {
            return try await store.createMultipartUpload(bucket.key(name), type: type)
        } catch {
            throw StorageError(error)
        }
    }

    /// Puts bytes as the part behind those there are.
    func put(
        _ file: StagedFile, _ range: Range<Int64>, behind held: StoredParts, of name: BlobName,
        _ version: Int64
    ) async throws(StorageError) -> ObjectPart {
        guard let upload = held.upload else { throw .lost }
        do throws(ObjectStoreError) {
            return try await store.putPart(
                bucket.key(name), upload: upload, number: held.nextNumber(version),
                .bytes(range, read: file.read))
        } catch {
            throw StorageError(error)
        }
    }

    private func put(
        _ file: StagedFile, _ range: Range<Int64>, of name: BlobName
    ) async throws(StorageError) -> StoredParts.Piece {
        let id: String
        do throws(UploadError) {
            id = Base64.encodeForURL(try SecureRandom.bytes(12))
        } catch {
            throw .lost
        }
        let piece = StoredParts.Piece(range: range, id: id)
        do throws(ObjectStoreError) {
            _ = try await store.put(
                key(piece, of: name), .bytes(range, read: file.read),
                type: "application/octet-stream")
        } catch {
            throw StorageError(error)
        }
        return piece
    }

    // MARK: Bringing it here

    /// The staged file of an upload, brought here as far as no part holds it, and exactly as long as is
    /// held.
    func stage(_ record: UploadRecord, of name: BlobName) async throws(StorageError) -> StagedFile {
        let offset = record.offset
        let here = try await work(on: name) { blobs throws(DiskError) in
            guard try blobs.stagedSize(name) ?? 0 >= offset else { return nil as StagedFile? }
            let file = try blobs.stage(name)
            if try file.size() > offset { try file.truncate(to: offset) }
            return file
        }
        if let here { return here }
        let held = record.held ?? begin(record.length)
        // What ends here before its last byte is shorter than is held, and brought again.
        let file = try await work(on: name) { blobs throws(DiskError) in
            let file = try blobs.stage(name)
            try file.truncate(to: 0)
            return file
        }
        var place = held.base
        for piece in held.pieces where piece.range.upperBound > place {
            place = try await bring(piece, from: place, to: file, of: name)
        }
        guard place == offset else { throw .lost }
        try await work(on: name) { _ throws(DiskError) in try file.truncate(to: offset) }
        return file
    }

    private func bring(
        _ piece: StoredParts.Piece, from start: Int64, to file: StagedFile, of name: BlobName
    ) async throws(StorageError) -> Int64 {
        // Nothing is left out between two of them.
        guard piece.range.lowerBound <= start else { throw .lost }
        let object = StoredObject(store: store, key: key(piece, of: name), redirects: false)
        let reader = OpenContent.object(object).reader(
            start - piece.range.lowerBound..<Int64(piece.range.count))
        let place: Int64
        do throws(StorageError) {
            place = try await bring(reader, from: start, to: file, of: name)
        } catch {
            throw error == .missing ? .lost : error
        }
        guard place == piece.range.upperBound else { throw .lost }
        return place
    }

    /// Writes all that comes behind a place of a staged file.
    ///
    /// - Returns: Where that ends.
    func bring(
        _ reader: ContentReader, from start: Int64, to file: StagedFile, of name: BlobName
    ) async throws(StorageError) -> Int64 {
        var (reader, place) = (reader, start)
        while let bytes = try await reader.next() {
            let target = place
            try await work(on: name) { _ throws(DiskError) in
                try file.write(bytes.span, at: target)
            }
            place += Int64(bytes.count)
        }
        return place
    }
}

extension SharedStorage {
    /// Ends what was begun in the store, and what was put there, for uploads that do not speak of it: a
    /// crash came between, or a process that had been overtaken did not know it yet (§11.8).
    func tidy(isUnderWay: @Sendable (BlobName) -> Bool) async {
        do {
            for try await open in store.openMultipartUploads() {
                guard let name = ContentBucket.name(of: open.key), isOld(open.initiated),
                    try await recordStore.record(of: name)?.held?.upload != open.upload
                else { continue }
                try await store.abort(open.key, upload: open.upload)
            }
            for try await object in store.objects(below: SharedStorage.folder) {
                guard let piece = SharedStorage.piece(object.key), isOld(object.modified),
                    try await !isHeld(piece.id, of: piece.name)
                else { continue }
                try await store.delete(object.key)
            }
        } catch {
            // The next run finds the same.
            bucket.onFault(error)
        }
    }

    private func isHeld(_ id: String, of name: BlobName) async throws(StorageError) -> Bool {
        try await recordStore.record(of: name)?.held?.pieces.contains { piece in
            piece.id.utf8.elementsEqual(id.utf8)
        } ?? false
    }

    private func isOld(_ moment: Int64?) -> Bool {
        moment.map(bucket.clock.isOrphaned(since:)) ?? false
    }

    /// Removes copies of bytes here that nobody has added to for long; who needs one makes it again.
    func tidyHere() async {
        let (clock, queue) = (bucket.clock, WorkQueue("parley.uploads.copies"))
        do throws(StorageError) {
            let blobs = blobs
            let old: [BlobName]
            do throws(DiskError) {
                old = try await queue.run { () throws(DiskError) in
                    try blobs.stagedEntries().filter { file in
                        clock.isOrphaned(since: file.modifiedAtMilliseconds)
                    }.compactMap { file in BlobName(file.name) }
                }
            } catch {
                throw .disk(error)
            }
            for name in old {
                try await work(on: name) { blobs throws(DiskError) in try blobs.discard(name) }
            }
        } catch {
            // The next run finds the same.
            bucket.onFault(error)
        }
    }
}
