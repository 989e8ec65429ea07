internal import Blobs

/// Where the records of uploads are kept: on this disk, or where several processes see them.
protocol UploadRecordStore: Sendable {
    /// A record and by whom it is replaced; `nil` when there is none, or none that holds.
    ///
    /// - Throws: What kept us from looking. That says nothing of the record, and taken for "unknown" it
    ///   would make a client start over, or a start-up delete what it could not read.
    func find(_ name: BlobName) async throws(StorageError) -> LoadedRecord?

    /// The name of the record of the upload that a content comes by.
    func name(of content: BlobName) async throws(StorageError) -> BlobName?

    /// Keeps a new record; it and its name are durable when this returns.
    func create(
        _ name: BlobName, _ record: UploadRecord, by engine: UploadEngine
    ) async throws(UploadError)

    /// Forgets a record that ended long ago.
    func forget(_ record: LoadedRecord) async throws(StorageError)

    /// Names of records somebody has to look at, at most so many.
    func due(at moment: Int64, limit: Int) async throws(StorageError) -> [BlobName]

    /// Bytes that the uploads of an application claim.
    func claimed(by application: String) async throws(StorageError) -> Int64

    /// Does what only one process does at a time.
    func runExclusively(_ work: @escaping @Sendable () async -> Void) async
}

/// A record that was found, and by whom it is replaced.
struct LoadedRecord: Sendable {
    let name: BlobName
    let record: UploadRecord
    let handle: any RecordHandle
}

/// Replaces one record.
protocol RecordHandle: Sendable {
    /// Rises with each replacement that another process can see; 0 where no other one can.
    var version: Int64 { get }

    /// Replaces the record, durably, after the bytes it speaks of.
    ///
    /// - Throws: ``StorageError/fenced`` when another process has taken over.
    nonisolated(nonsending) func replace(
        with next: UploadRecord, after file: StagedFile?
    ) async throws(StorageError)

    /// Makes sure that nobody else replaces it any more. What is staged here of another process's time is
    /// discarded before: it may differ from what that one took.
    ///
    /// - Parameter isWriting: A body is about to be received, of which other processes may ask how far it is.
    /// - Returns: The record as it is, when another process has replaced it since it was found; `nil` when
    ///   it is the one that was found.
    func take(isWriting: Bool) async throws(StorageError) -> UploadRecord?

    /// No body is received any more; the next replacement says so.
    func endWriting()

    /// Asks the process that receives the body of the upload, where that is another one, and waits until it has
    /// done so, at most ``UploadSettings/peerReplyTimeout``. Costs nothing where no other process receives.
    ///
    /// - Returns: The record as it is then; `nil` when no other process was asked.
    func askWriter(to request: UploadWriterRequest) async throws(StorageError) -> UploadRecord?

    /// What another process asked, when ``change()`` looked last.
    var request: UploadWriterRequest? { get }

    /// Tells that what another process asked is done.
    func answer() async

    /// The record as it is, when another process has replaced it; `nil` when none has.
    func change() async throws(StorageError) -> UploadRecord?

    /// Waits while another process finishes the upload, and takes it when none does.
    ///
    /// - Returns: As ``take()``.
    func takeToFinish() async throws(StorageError) -> UploadRecord?
}
