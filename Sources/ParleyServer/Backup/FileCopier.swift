import Blobs
import MessagingStore
import Uploads

/// Copies contents and archives from one folder to another, and believes no byte before it has read it
/// there.
struct FileCopier {
    let source: BlobFolder
    let target: BlobFolder

    /// Where a file was found.
    enum Outcome { case copied, present, missing }

    /// Copies a file, unless it is there already.
    ///
    /// - Throws: ``StartFailure`` when its bytes are not those the database knows; `DiskError`.
    func copy(_ file: KeptFile) throws -> Outcome {
        let name = file.name
        // Published means that it was read once and found right.
        if try target.contains(name) { return .present }
        guard let bytes = try bytes(name) else { return .missing }
        let staged = try target.stage(name)
        try staged.truncate(to: 0)
        try staged.copy(0..<bytes.size, of: bytes, to: 0)
        try staged.commit()
        guard file.isMade(of: try target.openStaged(name).digest()) else {
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

extension KeptFile {
    /// What it is called on a disk.
    var name: BlobName {
        guard let name = BlobName(place.uuid) else { preconditionFailure("an id is a name") }
        return name
    }

    /// What it is called in a bucket.
    var nameInBucket: BlobName {
        guard place.isArchive else { return name }
        guard let archive = Archive(id: place.uuid, attempt: attempt) else {
            preconditionFailure("an id is a name")
        }
        return archive.attempt
    }

    /// For a person.
    var title: String { "\(place.isArchive ? "the archive" : "content") \(place.uuid)" }

    /// Whether these are its bytes: a digest tells their number, too.
    func isMade(of digest: [UInt8]) -> Bool { digest == sha256 }

    func isDamaged(in place: String) -> StartFailure {
        StartFailure("\(title) in \(place) is damaged: its bytes are not those the database knows")
    }
}
