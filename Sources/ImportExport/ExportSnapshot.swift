public import Blobs
internal import JSON
public import Messaging
public import MessagingStore
internal import MessagingWire
internal import SystemSupport
public import Uploads

/// The lines of an application's export at one moment, in unnamed files, ready to be sent to a slow
/// client (X10).
///
/// The bytes of contents are not copied: they are read when they are sent, so the disk holds them
/// once. Memory holds a piece of 1 MiB, and the id of each content while the snapshot is written.
public final class ExportSnapshot: Sendable {
    private let lines: ScratchFile
    /// Where each content's bytes belong among the lines: records of 32 bytes.
    private let markers: ScratchFile
    /// The number of bytes of all pieces, to a few bytes for each content.
    public let expectedSize: Int64
    private let queue = WorkQueue("parley.moving")

    private static let piece = 256 << 10

    /// Writes the whole application to disk; the database snapshot is released when this returns.
    ///
    /// - Parameters:
    ///   - folder: Where the files are; a crash leaves nothing of them.
    ///   - contents: Whether the bytes of contents are to be sent, too.
    ///   - requireSpace: Throws when the disk is too full; called before each piece.
    /// - Throws: `Rejection.notFound(.application)`; `CancellationError` soon after a cancellation;
    ///   `DiskError`.
    public init(
        of application: Application.ID, in store: MessagingStore, at folder: BlobFolder,
        with contents: Bool, requireSpace: @escaping @Sendable () throws -> Void
    ) async throws {
        let number = UInt64.random(in: .min ... .max)
        let draft = try await queue.run { () throws -> Draft in
            try Draft(
                lines: ScratchFile(in: folder, "export-\(number)-lines"),
                markers: ScratchFile(in: folder, "export-\(number)-markers"),
                namesContents: contents, requireSpace: requireSpace)
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
        (lines, markers, expectedSize) = try await queue.run {
            try writing.withLock { draft in
                try draft.lines.flush()
                try draft.markers.flush()
                return (draft.lines, draft.markers, draft.lines.size + draft.sizeOfContents)
            }
        }
    }

    /// Sends the export in pieces, each after the one before has been taken.
    ///
    /// - Throws: ``UploadError/gone`` when a content has been deleted meanwhile; what `take`
    ///   throws.
    public func forEachPiece(
        from contents: ContentRepository, _ take: @Sendable ([UInt8]) async throws -> Void
    ) async throws {
        var place: Int64 = 0
        for index in 0..<markers.size / ContentMarker.length {
            let marker = try await queue.run { [markers] in
                ContentMarker(
                    try markers.read(Int(ContentMarker.length), at: index * ContentMarker.length))
            }
            guard let marker else {
                throw DiskError(kind: .damaged, operation: "reading a scratch file")
            }
            try await copy(place..<marker.place, take)
            place = marker.place
            try await write(marker, from: contents, take)
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
                throw DiskError(kind: .damaged, operation: "reading a scratch file")
            }
            place += Int64(piece.count)
            try await take(piece)
        }
    }

    /// Writes the bytes of a content as lines of the default length, except the last, so that the
    /// output does not depend on where the bytes come from.
    private func write(
        _ marker: ContentMarker, from contents: ContentRepository,
        _ take: ([UInt8]) async throws -> Void
    ) async throws {
        guard let name = BlobName(marker.content.uuid) else {
            preconditionFailure("an id is a name")
        }
        var waiting: [UInt8] = []
        var place: Int64 = 0
        try await contents.forEachChunk(of: name, size: marker.size) { piece in
            waiting += piece
            while waiting.count >= ArchivedBytes.defaultCount {
                let bytes = Array(waiting.prefix(ArchivedBytes.defaultCount))
                waiting.removeFirst(bytes.count)
                try await take(Self.line(ArchivedBytes(of: marker.content, at: place, bytes)))
                place += Int64(bytes.count)
            }
        }
        if !waiting.isEmpty || place == 0 {
            try await take(Self.line(ArchivedBytes(of: marker.content, at: place, waiting)))
        }
    }

    private static func line(_ piece: ArchivedBytes) -> [UInt8] {
        var writer = JSONWriter(capacity: piece.bytes.count / 3 * 4 + 128)
        ArchiveLineJSON.write(.bytes(piece), into: &writer)
        return writer.finish() + [UInt8(ascii: "\n")]
    }
}

/// A snapshot that is being written.
private struct Draft {
    var lines: ScratchFile
    var markers: ScratchFile
    let namesContents: Bool
    let requireSpace: @Sendable () throws -> Void
    /// The number of bytes of the lines of all contents, about.
    private(set) var sizeOfContents: Int64 = 0
    private var named: Set<Content.ID> = []

    init(
        lines: ScratchFile, markers: ScratchFile, namesContents: Bool,
        requireSpace: @escaping @Sendable () throws -> Void
    ) throws {
        self.lines = lines
        self.markers = markers
        self.namesContents = namesContents
        self.requireSpace = requireSpace
        try requireSpace()
    }

    mutating func append(_ line: ArchiveLine) throws {
        if namesContents, case .record(let record) = line {
            for archived in record.contents where named.insert(archived.content.id).inserted {
                let marker = ContentMarker(
                    place: lines.size, content: archived.content.id, size: archived.content.size)
                if try markers.append(marker.bytes) { try requireSpace() }
                let pieces = marker.size / Int64(ArchivedBytes.defaultCount) + 1
                sizeOfContents += marker.size / 3 * 4 + pieces * 110
            }
        }
        var writer = JSONWriter(capacity: 4096)
        ArchiveLineJSON.write(line, into: &writer)
        if try lines.append(writer.finish() + [UInt8(ascii: "\n")]) { try requireSpace() }
    }
}

/// A position among the lines, and the content whose bytes belong there.
private struct ContentMarker {
    let place: Int64
    let content: Content.ID
    let size: Int64

    static let length: Int64 = 32

    init(place: Int64, content: Content.ID, size: Int64) {
        self.place = place
        self.content = content
        self.size = size
    }

    /// Reads the form of ``bytes``; `nil` for another length.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length, let content = Content.ID(bytes: bytes[16...]) else {
            return nil
        }
        func number(_ range: Range<Int>) -> Int64 {
            bytes[range].reduce(0) { number, byte in number << 8 | Int64(byte) }
        }
        (place, size) = (number(0..<8), number(8..<16))
        self.content = content
    }

    var bytes: [UInt8] {
        [place, size].flatMap { number in
            (0..<8).map { index in UInt8(truncatingIfNeeded: number >> (56 - 8 * index)) }
        } + content.bytes
    }
}
