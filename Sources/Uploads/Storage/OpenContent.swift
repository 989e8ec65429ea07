public import Blobs
internal import HTTP
internal import Locking

/// A complete content, open for reading by as many as like.
enum OpenContent: Sendable {
    /// On the local disk; the queue is where it may be waited for.
    case file(BlobFile, WorkQueue)

    /// Whether it is as long as somebody knows it to be; one that is not here is asked when it is read.
    func holds(_ size: Int64) -> Bool {
        switch self {
        case .file(let file, _): file.size == size
        }
    }

    /// Begins to read everything.
    func reader() -> ContentReader {
        switch self {
        case .file(let file, _): reader(0..<file.size)
        }
    }

    /// Begins to read a range.
    func reader(_ range: Range<Int64>) -> ContentReader { ContentReader(self, range) }
}

/// Reads a range of a complete content piece by piece, no faster than the pieces are taken.
struct ContentReader {
    private let content: OpenContent
    private var rest: Range<Int64>

    init(_ content: OpenContent, _ range: Range<Int64>) {
        self.content = content
        rest = range
    }

    /// The next piece, never empty; `nil` at the end of the range.
    ///
    /// - Throws: Also when fewer bytes are there than the range has.
    mutating func next() async throws(StorageError) -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        switch content {
        case .file(let file, let queue):
            let (start, count) = (
                rest.lowerBound, Int(min(256 << 10, rest.upperBound - rest.lowerBound))
            )
            do throws(DiskError) {
                let piece = try await queue.run { () throws(DiskError) in
                    try file.read(count, at: start)
                }
                guard piece.count == count else {
                    throw DiskError(kind: .damaged, operation: "read")
                }
                rest = start + Int64(count)..<rest.upperBound
                return piece
            } catch {
                throw StorageError(error)
            }
        }
    }
}

/// Complete contents, wherever they lie; downloads read here.
public struct Contents: Sendable {
    let storage: any ContentStorage

    init(_ storage: any ContentStorage) { self.storage = storage }

    /// Those of a folder on the local disk.
    public init(_ blobs: BlobFolder) { storage = DiskStorage(blobs: blobs) }
}
