internal import Bytes
internal import ObjectStore

/// The leading parts of a content that are in the bucket already, all of the same size (§10.5).
///
/// Stored as a journal: the first entry has the id of the multipart upload and the part size, each further entry
/// the tag of the next part. A record is too small for thousands of tags.
struct JournaledParts: Sendable, Equatable {
    /// The id of the multipart upload.
    let upload: String
    /// The size of every part but the last, in bytes.
    let partSize: Int64
    /// The entity tags of the parts, in order.
    private(set) var tags: [String] = []

    /// The version of the first entry.
    private static let version: UInt8 = 1

    init(upload: String, partSize: Int64) {
        self.upload = upload
        self.partSize = partSize
    }

    /// Decodes a journal; `nil` for an unknown or missing first entry.
    init?(_ entries: [[UInt8]]) {
        guard let head = entries.first, head.count > 9, head[0] == JournaledParts.version,
            let upload = String(validating: head[9...], as: UTF8.self)
        else { return nil }
        let size = head[1..<9].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        guard let partSize = Int64(exactly: size),
            (1...PartSize.largest).contains(partSize),
            entries.count <= ObjectPart.maximumPartCount + 1
        else { return nil }
        self.init(upload: upload, partSize: partSize)
        for entry in entries.dropFirst() {
            guard let tag = String(validating: entry, as: UTF8.self) else { return nil }
            tags.append(tag)
        }
    }

    /// The first entry.
    var head: [UInt8] {
        [JournaledParts.version] + partSize.littleEndianBytes + upload.utf8
    }

    /// The entry of a part.
    static func entry(_ tag: String) -> [UInt8] { Array(tag.utf8) }

    mutating func append(_ tag: String) { tags.append(tag) }

    /// The number of leading bytes in parts, if all parts have the full size.
    var end: Int64 { Int64(tags.count) * partSize }

    /// The parts of a content of this size, as the bucket expects them on completion.
    func parts(of size: Int64) -> [ObjectPart] {
        tags.enumerated().map { index, tag in
            let start = Int64(index) * partSize
            return ObjectPart(number: index + 1, size: min(partSize, size - start), tag: tag)
        }
    }
}

/// The part size of a content in a bucket, chosen once per upload (§10.2).
///
/// All parts but the last have exactly this size, so there are never more than 10,000 parts, however often an
/// upload is interrupted.
enum PartSize {
    /// The smallest part size in use, in bytes.
    static let least: Int64 = 8 << 20
    /// An upper bound for part sizes in a record or a journal, in bytes.
    static let largest: Int64 = 1 << 40
    private static let step: Int64 = 1 << 20
    private static let most: Int64 = 9000

    /// The part size in bytes.
    ///
    /// - Parameters:
    ///   - length: The length of the content; `nil` while unknown.
    ///   - limit: The maximum length of content.
    static func of(_ length: Int64?, atMost limit: Int64) -> Int64 {
        let (least, whole) = length.map { (PartSize.least, $0) } ?? (16 << 20, limit)
        let (parts, rest) = (whole / most).quotientAndRemainder(dividingBy: step)
        let isWhole = rest == 0 && whole % most == 0
        return max(least, (isWhole ? parts : parts + 1) * step)
    }
}
