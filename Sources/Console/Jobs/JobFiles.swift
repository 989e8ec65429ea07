import Blobs
import HTTP
import Messaging
import SystemSupport

/// The files of the jobs of the console in the data folder: what an export has written, and what an import reads.
///
/// ```
/// folder/staged/{id}          a file that is being received or written
/// folder/content/{nn}/{id}    a complete file
/// ```
struct JobFiles: Sendable {
    private let folder: BlobFolder
    private let queue = WorkQueue("parley.jobs")

    /// - Parameter folder: Used by no other process.
    init(in folder: BlobFolder) { self.folder = folder }

    /// The most bytes of one read or write.
    private static let pieceSize = 256 << 10

    /// Receives a body as the complete file of a job; if it fails, nothing of it is stored.
    ///
    /// - Parameter requireSpace: Called before each write; throws if the disk is too full.
    /// - Returns: The number of bytes.
    func receive(
        _ body: any RequestBody, as id: ConsoleJob.ID,
        requireSpace: @escaping @Sendable () throws -> Void
    ) async throws -> Int64 {
        let file = try await begin(id)
        do {
            var buffer = BodyBuffer(capacity: Self.pieceSize)
            var size: Int64 = 0
            while true {
                try await body.read(into: &buffer)
                if buffer.count == 0 { break }
                let (bytes, place) = (Array(buffer.bytes), size)
                try await queue.run { () throws in
                    try requireSpace()
                    try file.write(bytes.span, at: place)
                }
                size += Int64(bytes.count)
            }
            try await finish(file, id)
            return size
        } catch {
            await discard(id)
            throw error
        }
    }

    /// Opens an empty file for a job.
    func begin(_ id: ConsoleJob.ID) async throws -> StagedFile {
        let name = Self.name(id)
        return try await queue.run { [folder] () throws in
            try folder.discard(name)
            return try folder.stage(name)
        }
    }

    /// Appends to a file.
    func write(
        _ bytes: [UInt8], to file: StagedFile, at place: Int64,
        requireSpace: @escaping @Sendable () throws -> Void
    ) async throws {
        try await queue.run { () throws in
            try requireSpace()
            try file.write(bytes.span, at: place)
        }
    }

    /// Makes a file complete and durable.
    func finish(_ file: StagedFile, _ id: ConsoleJob.ID) async throws {
        let name = Self.name(id)
        try await queue.run { [folder] () throws in
            try file.commit()
            try folder.publish(name)
        }
    }

    /// Removes what exists of the file of a job. What cannot be removed now is removed at the next start.
    func discard(_ id: ConsoleJob.ID) async {
        let name = Self.name(id)
        await queue.run { [folder] in
            try? folder.discard(name)
            _ = try? folder.deleteDurably(name)
        }
    }

    /// The complete file of a job; `nil` if there is none in this data folder.
    func open(_ id: ConsoleJob.ID) async throws -> BlobFile? {
        let name = Self.name(id)
        return try await queue.run { [folder] () throws in
            guard try folder.contains(name) else { return nil }
            return try folder.open(name)
        }
    }

    /// The jobs that have a file, complete or not.
    func ids() async throws -> Set<ConsoleJob.ID> {
        let names = try await queue.run { [folder] () throws in
            (try folder.stagedEntries() + folder.entries()).map(\.name)
        }
        return Set(names.compactMap { name in ConsoleJob.ID(uuid: name) })
    }

    /// The file of an import, as the body of a request.
    ///
    /// - Parameter progress: Called with the number of bytes that were read.
    func body(of file: BlobFile, progress: @escaping @Sendable (Int64) -> Void) -> any RequestBody {
        JobFileBody(file, queue, progress)
    }

    private static func name(_ id: ConsoleJob.ID) -> BlobName {
        guard let name = BlobName(id.uuid) else { preconditionFailure("an id is a name") }
        return name
    }
}

/// The file of an import, as the body of a request; it ends when its task is cancelled.
private actor JobFileBody: RequestBody {
    nonisolated let length: Int64?
    private let file: BlobFile
    private let queue: WorkQueue
    private let progress: @Sendable (Int64) -> Void
    private var place: Int64 = 0

    init(_ file: BlobFile, _ queue: WorkQueue, _ progress: @escaping @Sendable (Int64) -> Void) {
        self.file = file
        self.queue = queue
        self.progress = progress
        length = file.size
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        let (count, start) = (buffer.capacity, place)
        buffer.removeAll()
        if Task.isCancelled { throw .superseded }
        do {
            let bytes = try await queue.run { [file] in try file.read(count, at: start) }
            _ = buffer.append(bytes.span)
            place += Int64(bytes.count)
        } catch {
            throw .refused(
                Refusal(.internalServerError, "X10", "The file cannot be read from the disk."))
        }
        progress(place)
    }

    nonisolated func interrupt() {}
}
