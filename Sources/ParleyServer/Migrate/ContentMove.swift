import Blobs
import MessagingStore
import Uploads

/// Brings contents and archives to where another server reads them, and compares every digest there.
struct ContentMove {
    let source: BlobFolder
    let target: Target

    /// Where contents go.
    enum Target {
        /// Nowhere: the folder is served on.
        case stay
        /// To another data folder.
        case folder(BlobFolder)
        /// To a bucket.
        case bucket(ContentBucket)
    }

    /// Brings a file there; one that is there already is read again and stays.
    ///
    /// - Throws: ``StartFailure`` when it is missing or damaged.
    func bring(_ file: KeptFile) async throws {
        switch target {
        case .stay:
            guard try source.contains(file.name) else { throw missing(file) }
            try verify(file, in: source)
        case .folder(let folder): try copy(file, to: folder)
        case .bucket(let bucket): try await store(file, in: bucket)
        }
    }

    private func copy(_ file: KeptFile, to folder: BlobFolder) throws {
        switch try FileCopier(source: source, target: folder).copy(file) {
        case .copied: break
        case .present: try verify(file, in: folder)
        case .missing: throw missing(file)
        }
    }

    private func store(_ file: KeptFile, in bucket: ContentBucket) async throws {
        if let digest = try await bucket.digest(of: file.nameInBucket), file.isMade(of: digest) {
            return
        }
        guard try source.contains(file.name) else { throw missing(file) }
        let bytes = try source.open(file.name)
        guard file.isMade(of: try bytes.digest()) else { throw file.isDamaged(in: source.path) }
        try await bucket.store(bytes, as: file.nameInBucket, type: file.mimeType)
        guard let digest = try await bucket.digest(of: file.nameInBucket), file.isMade(of: digest)
        else {
            throw file.isDamaged(in: "the bucket")
        }
    }

    private func verify(_ file: KeptFile, in folder: BlobFolder) throws {
        guard file.isMade(of: try folder.open(file.name).digest()) else {
            throw file.isDamaged(in: folder.path)
        }
    }

    private func missing(_ file: KeptFile) -> StartFailure {
        StartFailure("\(file.title) is missing in \(source.path)")
    }
}
