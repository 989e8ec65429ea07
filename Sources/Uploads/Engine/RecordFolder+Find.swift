internal import Blobs

extension RecordFolder {
    /// A stored record, and the file it is kept in; `nil` when there is none, or none that holds.
    ///
    /// - Throws: What kept us from looking: no descriptor left, a failing device, a right missing.
    ///   That says nothing of the record, and taken for "unknown" it would make a client start over,
    ///   or a start-up delete what it could not read.
    func find(_ name: BlobName) throws(DiskError) -> (file: RecordFile, record: UploadRecord)? {
        do throws(DiskError) {
            let file = try open(name)
            return UploadRecord(file.payload).map { record in (file, record) }
        } catch {
            guard error.kind == .missing || error.kind == .damaged else { throw error }
            return nil
        }
    }
}
