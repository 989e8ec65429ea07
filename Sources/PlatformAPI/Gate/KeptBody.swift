import Blobs
import Digests
import HTTP
import Locking
import Moving
import Uploads

/// A long body that is on the disk as a whole, because what is asked under a key must be known before
/// it is done (X2).
final actor KeptBody: RequestBody {
    nonisolated let length: Int64?
    /// SHA-256 of all of it.
    nonisolated let digest: [UInt8]

    private let file: ScratchFile
    private let queue: WorkQueue
    private var place: Int64 = 0

    private static let piece = 256 << 10

    /// Receives a body.
    ///
    /// - Throws: `BodyError`, `DiskError`; what `requireRoom` throws, which is asked now and then.
    init(
        _ body: any RequestBody, in folder: BlobFolder,
        requireRoom: @escaping @Sendable () throws -> Void
    ) async throws {
        let queue = WorkQueue("parley.body")
        let number = UInt64.random(in: .min ... .max)
        let file = Locked(
            try await queue.run { () throws in
                try requireRoom()
                return try ScratchFile(in: folder, "body-\(number)")
            })
        var hash = SHA256()
        var buffer = BodyBuffer(capacity: Self.piece)
        repeat {
            try await body.read(into: &buffer)
            let octets = Array(buffer.octets)
            hash.update(octets.span)
            try await queue.run { () throws in
                let isWritten = try file.withLock { file in try file.append(octets) }
                if isWritten { try requireRoom() }
            }
        } while buffer.count > 0
        self.file = try await queue.run { () throws in
            try file.withLock { file in
                try file.flush()
                return file
            }
        }
        self.queue = queue
        digest = hash.digest
        length = self.file.size
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        let (count, start) = (buffer.capacity, place)
        buffer.removeAll()
        do {
            let octets = try await queue.run { [file] in try file.read(count, at: start) }
            _ = buffer.append(octets.span)
            place += Int64(octets.count)
        } catch {
            throw .refused(
                Refusal(.internalServerError, "X2", "The body cannot be read from the disk."))
        }
    }

    nonisolated func interrupt() {}
}
