internal import Blobs
internal import Bytes
internal import HTTPClient
internal import ObjectStore
internal import SystemSupport

/// Content in a bucket, with every acknowledged byte of unfinished uploads there, too (§10.5, `remote-tail`).
///
/// The staged file on the local disk is a copy. A process without it downloads the bytes that no part holds.
struct SharedStorage: ContentStorage {
    let bucket: BucketStorage
    let queues: WorkQueuePool
    let recordStore: SharedUploadRecords

    var store: ObjectStore { bucket.store }
    private var blobs: BlobFolder { bucket.disk.blobs }

    /// The key prefix of tails.
    static let folder = "tails/"

    /// The key of a tail.
    func key(_ piece: StoredParts.Piece, of name: BlobName) -> ObjectKey {
        // Consists of checked characters.
        guard let key = ObjectKey("\(SharedStorage.folder)\(name.text)/\(piece.id)") else {
            preconditionFailure("\(name)")
        }
        return key
    }

    /// The upload whose tail a key names; `nil` for other objects.
    private static func piece(_ key: ObjectKey) -> (name: BlobName, id: String)? {
        let words = key.text.split(separator: "/")
        guard words.count == 3, "\(words[0])/" == folder, let name = BlobName(words[1]) else {
            return nil
        }
        return (name, String(words[2]))
    }

    // MARK: Content

    func publish(_ content: StagedContent) async throws(StorageError) {
        try await bucket.publish(content)
    }

    func publish(_ archive: ArchiveFile, _ content: StagedContent) async throws(StorageError) {
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

    // MARK: Arriving bytes

    func uploader(of name: BlobName) -> PartUploader? { nil }

    func mostStaged(of length: Int64?) -> Int64 { bucket.mostStaged(of: length) }

    func isFullyStaged(_ name: BlobName) async throws(StorageError) -> Bool { false }

    func cancelParts(of name: BlobName) {}

    /// Aborts a multipart upload that no record names any more.
    func abort(_ upload: String, of name: BlobName) async {
        do throws(ObjectStoreError) {
            try await store.abort(bucket.key(name), upload: upload)
        } catch {
            // The sweeper finds what remains.
            bucket.onFault(error)
        }
    }

    /// Deletes tails that no record names any more, in the background.
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

    /// Runs work on the staged file of a content, on its disk queue.
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
    /// The maximum number of tails; the next one replaces them, so that small requests do not make the record long.
    private static let mostPieces = 16

    /// Makes staged bytes durable in the bucket.
    ///
    /// Objects that the record names are not touched; new ones count only once the record names them.
    ///
    /// - Parameters:
    ///   - next: The new record.
    ///   - version: The version of the current record.
    /// - Returns: The parts in the bucket afterwards.
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

    /// The initial parts of an upload.
    func begin(_ length: Int64?) -> StoredParts {
        StoredParts(
            partSize: PartSize.of(length, atMost: bucket.longest),
            longest: length ?? bucket.longest)
    }

    /// Whether parts are needed; short content is stored with a single PUT when it is complete.
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

    /// Stores bytes as the next part.
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

    // MARK: Downloading to the local disk

    /// The staged file of an upload, exactly as long as the offset; bytes that no part holds are downloaded when
    /// they are missing.
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
        // A file that a crash left shorter than the offset is downloaded again.
        let file = try await work(on: name) { blobs throws(DiskError) in
            let file = try blobs.stage(name)
            try file.truncate(to: 0)
            return file
        }
        var position = held.base
        for piece in held.pieces where piece.range.upperBound > position {
            position = try await download(piece, from: position, to: file, of: name)
        }
        guard position == offset else { throw .lost }
        try await work(on: name) { _ throws(DiskError) in try file.truncate(to: offset) }
        return file
    }

    private func download(
        _ piece: StoredParts.Piece, from start: Int64, to file: StagedFile, of name: BlobName
    ) async throws(StorageError) -> Int64 {
        // Tails must be contiguous.
        guard piece.range.lowerBound <= start else { throw .lost }
        let object = StoredObject(store: store, key: key(piece, of: name), redirects: false)
        let reader = OpenContent.object(object).reader(
            start - piece.range.lowerBound..<Int64(piece.range.count))
        let position: Int64
        do throws(StorageError) {
            position = try await write(reader, from: start, to: file, of: name)
        } catch {
            throw error == .missing ? .lost : error
        }
        guard position == piece.range.upperBound else { throw .lost }
        return position
    }

    /// Writes all bytes of a reader to a staged file.
    ///
    /// - Returns: The position after the last byte.
    func write(
        _ reader: ContentReader, from start: Int64, to file: StagedFile, of name: BlobName
    ) async throws(StorageError) -> Int64 {
        var (reader, position) = (reader, start)
        while let bytes = try await reader.next() {
            let target = position
            try await work(on: name) { _ throws(DiskError) in
                try file.write(bytes.span, at: target)
            }
            position += Int64(bytes.count)
        }
        return position
    }
}

extension SharedStorage {
    /// Removes multipart uploads and tails that no record names, left by a crash or by a process that was overtaken
    /// before it noticed (§11.8).
    func tidy(isStaged: @Sendable (BlobName) -> Bool) async {
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
            // The next run retries.
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

    /// Removes local copies that have not changed for an hour; they are downloaded again when needed.
    func removeUnusedCopies() async {
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
            // The next run retries.
            bucket.onFault(error)
        }
    }
}
