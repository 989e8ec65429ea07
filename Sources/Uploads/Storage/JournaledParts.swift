internal import ObjectStore

/// What of a content lies in the bucket already: leading parts, each of the same size (§10.5).
///
/// As a journal: the first entry says how the store calls the upload and how long parts are, each
/// further one is the tag of the next part. A record of an upload has no room for thousands of them.
struct JournaledParts: Sendable, Equatable {
    /// The store's name of the upload.
    let upload: String
    /// Of every part but the last, in bytes.
    let partSize: Int64
    /// The store's names of the parts, from the first one on.
    private(set) var tags: [String] = []

    /// The first entry may be of this kind alone.
    private static let version: UInt8 = 1

    init(upload: String, partSize: Int64) {
        self.upload = upload
        self.partSize = partSize
    }

    /// Reads a journal; `nil` for one without a first entry that is known.
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
        let size = (0..<8).map { UInt8(truncatingIfNeeded: partSize >> ($0 * 8)) }
        return [JournaledParts.version] + size + upload.utf8
    }

    /// The entry of a part.
    static func entry(_ tag: String) -> [UInt8] { Array(tag.utf8) }

    mutating func append(_ tag: String) { tags.append(tag) }

    /// How many leading bytes are there, unless the last part, which may be shorter, is among them.
    var end: Int64 { Int64(tags.count) * partSize }

    /// The parts of a content of this size, as the store wants them told.
    func parts(of size: Int64) -> [ObjectPart] {
        tags.enumerated().map { place, tag in
            let start = Int64(place) * partSize
            return ObjectPart(number: place + 1, size: min(partSize, size - start), tag: tag)
        }
    }
}

/// How long the parts of a content are in a bucket: chosen once for each upload (§10.2).
///
/// All parts but the last have exactly this size, so they can never be more than 10,000, whatever
/// interruptions do.
enum PartSize {
    /// Of the shortest parts there are.
    static let least: Int64 = 8 << 20
    /// More than any upload has, as a bound for what a record or a journal states.
    static let largest: Int64 = 1 << 40
    private static let step: Int64 = 1 << 20
    private static let most: Int64 = 9000

    /// In bytes.
    ///
    /// - Parameters:
    ///   - length: Of the content; `nil` while unknown.
    ///   - limit: The longest a content may be.
    static func of(_ length: Int64?, atMost limit: Int64) -> Int64 {
        let (least, whole) = length.map { (PartSize.least, $0) } ?? (16 << 20, limit)
        let (parts, rest) = (whole / most).quotientAndRemainder(dividingBy: step)
        let isWhole = rest == 0 && whole % most == 0
        return max(least, (isWhole ? parts : parts + 1) * step)
    }
}
