internal import ObjectStore

/// The bytes of an upload that are in the bucket, where any process can continue it (§10.5, `remote-tail`).
///
/// These are the leading parts of a multipart upload and, after them, tails: objects that are never overwritten.
/// Only the record decides which of them count, so objects that an overtaken process stores change nothing.
struct StoredParts: Sendable, Equatable {
    /// Bytes after the parts, in a separate object.
    struct Piece: Sendable, Equatable {
        let range: Range<Int64>
        /// The last segment of the object key.
        let id: String
    }

    /// The id of the multipart upload; `nil` while there is none.
    var upload: String?
    /// The size of every part but the last, in bytes; the parts of a concatenation are as long as their sources.
    let partSize: Int64
    /// How many part numbers are reserved for each part.
    let stride: Int
    var parts: [ObjectPart] = []
    var pieces: [Piece] = []

    init(partSize: Int64, longest: Int64) {
        self.partSize = partSize
        // When there could be more parts than part numbers, each part has one number.
        let parts = min(longest / partSize, Int64(ObjectPart.maximumPartCount)) + 1
        stride = max(1, ObjectPart.maximumPartCount / Int(parts))
    }

    /// The number of leading bytes that are in parts.
    var base: Int64 { parts.reduce(0) { sum, part in sum + part.size } }

    /// The number of leading bytes that are in the bucket.
    var end: Int64 { max(base, pieces.last?.range.upperBound ?? 0) }

    /// The number of the next part. It depends on the version, so that no process overwrites a part that another
    /// one has stored and the record names.
    func nextNumber(_ version: Int64) -> Int {
        parts.count * stride + 1 + Int(version % Int64(stride))
    }

    /// Adds a part and drops the tails that it covers.
    mutating func append(_ part: ObjectPart) {
        parts.append(part)
        let base = base
        pieces.removeAll { piece in piece.range.upperBound <= base }
    }
}

extension StoredParts {
    private enum Tag {
        static let upload: UInt8 = 1
        static let partSize: UInt8 = 2
        static let stride: UInt8 = 3
        static let parts: UInt8 = 4
        static let pieces: UInt8 = 5
    }

    /// The encoding in a record: one line for each part and tail.
    var bytes: [UInt8] {
        var row = TaggedBytes()
        row.add(Tag.upload, upload)
        row.add(Tag.partSize, partSize)
        row.add(Tag.stride, Int64(stride))
        row.add(
            Tag.parts,
            parts.map { part in "\(part.number) \(part.size) \(part.tag)" }
                .joined(separator: "\n"))
        row.add(
            Tag.pieces,
            pieces.map { piece in "\(piece.range.lowerBound) \(piece.range.upperBound) \(piece.id)"
            }.joined(separator: "\n"))
        return row.bytes
    }

    /// Decodes the bytes of a record; `nil` when they are malformed.
    init?(_ bytes: [UInt8]) {
        guard let row = TaggedBytes(bytes), let size = row.number(Tag.partSize),
            (1...PartSize.largest).contains(size),
            let stride = row.number(Tag.stride).flatMap({ Int(exactly: $0) }),
            (1...ObjectPart.maximumPartCount).contains(stride),
            let parts = row.text(Tag.parts), let pieces = row.text(Tag.pieces)
        else { return nil }
        upload = row.text(Tag.upload)
        partSize = size
        self.stride = stride
        for line in StoredParts.lines(parts) {
            // Bounds that keep the sums from overflowing.
            guard let (number, size, tag) = line, let number = Int(exactly: number),
                (0...PartSize.largest).contains(size),
                self.parts.count < ObjectPart.maximumPartCount
            else { return nil }
            self.parts.append(ObjectPart(number: number, size: size, tag: tag))
        }
        for line in StoredParts.lines(pieces) {
            guard let (start, end, id) = line, 0 <= start, start < end else { return nil }
            self.pieces.append(Piece(range: start..<end, id: id))
        }
    }

    private static func lines(_ text: String) -> [(Int64, Int64, String)?] {
        text.split(separator: "\n").map { line in
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let first = Int64(words[0]), let second = Int64(words[1]) else {
                return nil
            }
            return (first, second, String(words[2]))
        }
    }
}
