import Blobs
import MessagingStore
import Uploads

/// Copies contents and archives to another folder or a bucket, and verifies every digest there.
struct ContentMigration {
    let source: BlobFolder
    let target: Target

    /// Where contents are copied to.
    enum Target {
        /// Not copied: the same folder stays in use.
        case inPlace
        /// Another data folder.
        case folder(BlobFolder)
        /// A bucket.
        case bucket(ContentBucket)
    }

    /// Copies a file; one that exists already is only verified.
    ///
    /// - Throws: ``CommandFailure`` if it is missing or damaged.
    func migrate(_ file: StoredFile) async throws {
        switch target {
        case .inPlace:
            guard try source.contains(file.name) else { throw missing(file) }
            try verify(file, in: source)
        case .folder(let folder): try copy(file, to: folder)
        case .bucket(let bucket): try await store(file, in: bucket)
        }
    }

    private func copy(_ file: StoredFile, to folder: BlobFolder) throws {
        switch try BlobCopier(source: source, target: folder).copy(file) {
        case .copied: break
        case .present: try verify(file, in: folder)
        case .missing: throw missing(file)
        }
    }

    private func store(_ file: StoredFile, in bucket: ContentBucket) async throws {
        if let digest = try await bucket.digest(of: file.nameInBucket), file.hasDigest(digest) {
            return
        }
        guard try source.contains(file.name) else { throw missing(file) }
        let bytes = try source.open(file.name)
        guard file.hasDigest(try bytes.digest()) else { throw file.isDamaged(in: source.path) }
        try await bucket.store(bytes, as: file.nameInBucket, type: file.mimeType)
        guard let digest = try await bucket.digest(of: file.nameInBucket), file.hasDigest(digest)
        else {
            throw file.isDamaged(in: "the bucket")
        }
    }

    private func verify(_ file: StoredFile, in folder: BlobFolder) throws {
        guard file.hasDigest(try folder.open(file.name).digest()) else {
            throw file.isDamaged(in: folder.path)
        }
    }

    private func missing(_ file: StoredFile) -> CommandFailure {
        CommandFailure("\(file.title) is missing in \(source.path)")
    }
}

/// Copies contents and archives from one folder to another and verifies each copy.
struct BlobCopier {
    let source: BlobFolder
    let target: BlobFolder

    /// The result of copying a file.
    enum Outcome { case copied, present, missing }

    /// Copies a file, unless it exists already.
    ///
    /// - Throws: ``CommandFailure`` if its digest is not the one in the database; `DiskError`.
    func copy(_ file: StoredFile) throws -> Outcome {
        let name = file.name
        // A published file was verified when it was copied.
        if try target.contains(name) { return .present }
        guard let bytes = try bytes(name) else { return .missing }
        let staged = try target.stage(name)
        try staged.truncate(to: 0)
        try staged.copy(0..<bytes.size, of: bytes, to: 0)
        try staged.commit()
        guard file.hasDigest(try target.openStaged(name).digest()) else {
            try target.discard(name)
            throw file.isDamaged(in: source.path)
        }
        try target.publish(name)
        return .copied
    }

    private func bytes(_ name: BlobName) throws(DiskError) -> BlobFile? {
        do throws(DiskError) {
            return try source.open(name)
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }
}

extension StoredFile {
    /// Its name on disk.
    var name: BlobName {
        guard let name = BlobName(key.uuid) else { preconditionFailure("an id is a valid name") }
        return name
    }

    /// Its name in a bucket.
    var nameInBucket: BlobName {
        guard key.isArchive else { return name }
        guard let archive = ArchiveFile(id: key.uuid, attempt: attempt) else {
            preconditionFailure("an id is a valid name")
        }
        return archive.attempt
    }

    /// Its name in messages for people.
    var title: String { "\(key.isArchive ? "the archive" : "content") \(key.uuid)" }

    /// Whether it has this SHA-256 digest.
    func hasDigest(_ digest: [UInt8]) -> Bool { digest == sha256 }

    func isDamaged(in place: String) -> CommandFailure {
        CommandFailure(
            "\(title) in \(place) is damaged: its digest differs from that in the database")
    }
}
