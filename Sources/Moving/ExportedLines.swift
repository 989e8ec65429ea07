public import Blobs
internal import JSON
internal import Locking
public import Messaging
public import MessagingStore
internal import MessagingWire
public import Uploads

/// The lines of an export as they were at one moment, in files that have no name, to be sent to
/// somebody who may be slow (X10).
///
/// Bytes of contents are not in it: they are read when their turn comes, so the disk holds them once.
/// Memory holds a piece of 1 MiB, whatever there is, and the id of each content while it is written.
public final class ExportedLines: Sendable {
    private let lines: ScratchFile
    /// Which content stands where: 32 octets each.
    private let marks: ScratchFile
    private let queue = WorkQueue("parley.moving")

    private static let piece = 256 << 10

    /// Writes everything of an application down; the database is let go of when this returns.
    ///
    /// - Parameters:
    ///   - folder: Where the files lie; a crash leaves nothing of them.
    ///   - contents: Whether their bytes are to be sent, too.
    ///   - requireRoom: Throws when the disk is too full for more; asked before each piece.
    /// - Throws: `Rejection.notFound(.application)`; `CancellationError` soon after a cancellation;
    ///   `DiskError`.
    public init(
        of application: Application.ID, in store: MessagingStore, at folder: BlobFolder,
        with contents: Bool, requireRoom: @escaping @Sendable () throws -> Void
    ) async throws {
        let number = UInt64.random(in: .min ... .max)
        let draft = try await queue.run { () throws -> Draft in
            try Draft(
                lines: ScratchFile(in: folder, "export-\(number)-lines"),
                marks: ScratchFile(in: folder, "export-\(number)-marks"),
                namesContents: contents, requireRoom: requireRoom)
        }
        let writing = Locked(draft)
        let isCancelled = Locked(false)
        try await withTaskCancellationHandler {
            try await store.forEachLine(of: application) { line in
                if isCancelled.withLock({ cancelled in cancelled }) { throw CancellationError() }
                try writing.withLock { draft in try draft.append(line) }
            }
        } onCancel: {
            isCancelled.withLock { cancelled in cancelled = true }
        }
        (lines, marks) = try await queue.run {
            try writing.withLock { draft in
                try draft.lines.flush()
                try draft.marks.flush()
                return (draft.lines, draft.marks)
            }
        }
    }

    /// Hands out all of it, in pieces, no faster than they are taken.
    ///
    /// - Throws: ``UploadError/gone`` when a content has been deleted meanwhile; what `take` throws.
    public func forEachPiece(
        from contents: Contents, _ take: @Sendable ([UInt8]) async throws -> Void
    ) async throws {
        var place: Int64 = 0
        for index in 0..<marks.size / Mark.length {
            let mark = try await queue.run { [marks] in
                Mark(try marks.read(Int(Mark.length), at: index * Mark.length))
            }
            guard let mark else { throw DiskError(kind: .damaged, operation: "read") }
            try await copy(place..<mark.place, take)
            place = mark.place
            try await write(mark, from: contents, take)
        }
        try await copy(place..<lines.size, take)
    }

    private func copy(
        _ range: Range<Int64>, _ take: ([UInt8]) async throws -> Void
    ) async throws {
        var place = range.lowerBound
        while place < range.upperBound {
            let count = min(Self.piece, Int(range.upperBound - place))
            let piece = try await queue.run { [lines, place] in try lines.read(count, at: place) }
            guard piece.count == count else {
                throw DiskError(kind: .damaged, operation: "read")
            }
            place += Int64(piece.count)
            try await take(piece)
        }
    }

    /// Writes the bytes of a content as lines; all but the last as long as usual, so that they are the
    /// same wherever they come from.
    private func write(
        _ mark: Mark, from contents: Contents, _ take: ([UInt8]) async throws -> Void
    ) async throws {
        guard let name = BlobName(mark.content.uuid) else {
            preconditionFailure("an id is a name")
        }
        var waiting: [UInt8] = []
        var place: Int64 = 0
        try await contents.forEachPiece(of: name, size: mark.size) { piece in
            waiting += piece
            while waiting.count >= MovedBytes.usual {
                let bytes = Array(waiting.prefix(MovedBytes.usual))
                waiting.removeFirst(bytes.count)
                try await take(Self.line(MovedBytes(of: mark.content, at: place, bytes)))
                place += Int64(bytes.count)
            }
        }
        if !waiting.isEmpty || place == 0 {
            try await take(Self.line(MovedBytes(of: mark.content, at: place, waiting)))
        }
    }

    private static func line(_ piece: MovedBytes) -> [UInt8] {
        var writer = JSONWriter(capacity: piece.bytes.count / 3 * 4 + 128)
        MovedLineJSON.write(.bytes(piece), into: &writer)
        return writer.finish() + [UInt8(ascii: "\n")]
    }
}

/// What is being written down.
private struct Draft {
    var lines: ScratchFile
    var marks: ScratchFile
    let namesContents: Bool
    let requireRoom: @Sendable () throws -> Void
    private var named: Set<Content.ID> = []

    init(
        lines: ScratchFile, marks: ScratchFile, namesContents: Bool,
        requireRoom: @escaping @Sendable () throws -> Void
    ) throws {
        self.lines = lines
        self.marks = marks
        self.namesContents = namesContents
        self.requireRoom = requireRoom
        try requireRoom()
    }

    mutating func append(_ line: MovedLine) throws {
        if namesContents, case .record(let record) = line {
            for moved in record.contents where named.insert(moved.content.id).inserted {
                let mark = Mark(
                    place: lines.size, content: moved.content.id, size: moved.content.size)
                if try marks.append(mark.octets) { try requireRoom() }
            }
        }
        var writer = JSONWriter(capacity: 4096)
        MovedLineJSON.write(line, into: &writer)
        if try lines.append(writer.finish() + [UInt8(ascii: "\n")]) { try requireRoom() }
    }
}

/// A place among the lines, and the content whose bytes stand there.
private struct Mark {
    let place: Int64
    let content: Content.ID
    let size: Int64

    static let length: Int64 = 32

    init(place: Int64, content: Content.ID, size: Int64) {
        self.place = place
        self.content = content
        self.size = size
    }

    /// Reads what ``octets`` has written; `nil` where something is missing.
    init?(_ octets: [UInt8]) {
        guard octets.count == Self.length, let content = Content.ID(bytes: octets[16...]) else {
            return nil
        }
        func number(_ range: Range<Int>) -> Int64 {
            octets[range].reduce(0) { number, octet in number << 8 | Int64(octet) }
        }
        (place, size) = (number(0..<8), number(8..<16))
        self.content = content
    }

    var octets: [UInt8] {
        [place, size].flatMap { number in
            (0..<8).map { index in UInt8(truncatingIfNeeded: number >> (56 - 8 * index)) }
        } + content.bytes
    }
}
