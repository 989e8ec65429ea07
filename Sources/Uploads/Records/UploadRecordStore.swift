internal import Blobs

/// Stores upload records, on the local disk or where several processes share them.
protocol UploadRecordStore: Sendable {
    /// Loads a record; `nil` when there is none or it is damaged.
    ///
    /// - Throws: Why it could not be read. The record may exist: treated as unknown, the client would start over, or
    ///   recovery would delete it.
    func find(_ name: BlobName) async throws(StorageError) -> LoadedRecord?

    /// The name of the record of the upload that results in a content.
    func name(of content: BlobName) async throws(StorageError) -> BlobName?

    /// Stores a new record; it is durable when this returns.
    func create(
        _ name: BlobName, _ record: UploadRecord, by engine: UploadEngine
    ) async throws(UploadError)

    /// Deletes a record that ended long ago.
    func forget(_ record: LoadedRecord) async throws(StorageError)

    /// The names of records that the sweeper must process now.
    func due(at moment: Int64, limit: Int) async throws(StorageError) -> [BlobName]

    /// Records after that of a content, by descending content id: those that accept bytes, or the others.
    ///
    /// - Parameter application: The application; `nil` for all.
    func list(
        _ application: String?, isOpen: Bool, after content: String?, limit: Int
    ) async throws(StorageError) -> [UploadListEntry]

    /// The bytes that the uploads of an application reserve of its quota.
    func claimed(by application: String) async throws(StorageError) -> Int64

    /// Runs work that only one process does at a time.
    func runExclusively(_ work: @escaping @Sendable () async -> Void) async
}

/// A record with the handle that replaces it.
struct LoadedRecord: Sendable {
    let name: BlobName
    let record: UploadRecord
    let handle: any RecordHandle
}

/// Replaces one stored record.
protocol RecordHandle: Sendable {
    /// Rises with each replacement, where several processes share records; otherwise 0.
    var version: Int64 { get }

    /// Replaces the record, durably, after the bytes that it counts.
    ///
    /// - Throws: ``StorageError/fenced`` when another process has taken over.
    nonisolated(nonsending) func replace(
        with next: UploadRecord, after file: StagedFile?
    ) async throws(StorageError)

    /// Takes the record, so that no other process can replace it. Bytes staged here from an earlier time are
    /// discarded first, because they may differ from those of the other process.
    ///
    /// - Parameter isWriting: A body is about to be received, and other processes may request its offset.
    /// - Returns: The current record, when another process has replaced it since it was loaded; otherwise `nil`.
    func take(isWriting: Bool) async throws(StorageError) -> UploadRecord?

    /// Records that no body is being received any more; the next replacement stores it.
    func endWriting()

    /// Asks the process that receives the body of the upload, if it is another one, and waits until it has done so,
    /// at most ``UploadSettings/peerReplyTimeout``. Free of cost where no other process receives.
    ///
    /// - Returns: The record afterwards; `nil` when no request was sent.
    func askWriter(to request: UploadWriterRequest) async throws(StorageError) -> UploadRecord?

    /// The request of another process at the last call of ``change()``.
    var request: UploadWriterRequest? { get }

    /// Reports that the request of another process is done.
    func answer() async

    /// The current record, when another process has replaced it; otherwise `nil`.
    func change() async throws(StorageError) -> UploadRecord?

    /// Waits while another process finishes the upload, and takes the record when none does.
    ///
    /// - Returns: As ``take(isWriting:)``.
    func takeToFinish() async throws(StorageError) -> UploadRecord?
}
