internal import Base64
internal import Blobs
internal import HTTPClient
internal import Locking
internal import ObjectStore

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
    ) async throws(StorageError) -> HeldParts {
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
    func begin(_ length: Int64?) -> HeldParts {
        HeldParts(
            partSize: PartSize.of(length, atMost: bucket.longest),
            longest: length ?? bucket.longest)
    }

    /// A short content is stored at once, when it is whole.
    func needsParts(_ held: HeldParts, _ length: Int64?) -> Bool {
        held.upload != nil || length.map { length in length > held.partSize } ?? true
    }

    func begun(_ name: BlobName, _ type: String) async throws(StorageError) -> String {
        do throws(ObjectStoreError) {
            return try await store.createMultipart(bucket.key(name), type: type)
        } catch {
            throw StorageError(error)
        }
    }

    /// Puts bytes as the part behind those there are.
    func put(
        _ file: StagedFile, _ range: Range<Int64>, behind held: HeldParts, of name: BlobName,
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
    ) async throws(StorageError) -> HeldParts.Piece {
        let id: String
        do throws(UploadError) {
            id = Base64.encodeForURL(try Randomness.bytes(12))
        } catch {
            throw .lost
        }
        let piece = HeldParts.Piece(range: range, id: id)
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
        _ piece: HeldParts.Piece, from start: Int64, to file: StagedFile, of name: BlobName
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
