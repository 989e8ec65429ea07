public import Messaging
internal import MessagingWire

/// Splits bytes that arrive in pieces into lines; memory holds one line and one piece.
public struct LineSplitter {
    private var buffer: [UInt8] = []
    /// Where the next line begins in the buffer.
    private var start = 0
    /// Up to where the buffer has been searched for a line end.
    private var seen = 0
    /// The number of the line returned last; the first is 1.
    public private(set) var number = 0

    /// Creates an empty splitter.
    public init() {}

    /// Adds the next piece.
    public mutating func append(_ piece: some Sequence<UInt8>) {
        buffer.removeSubrange(..<start)
        seen -= start
        start = 0
        buffer.append(contentsOf: piece)
    }

    /// The next line without its line end; `nil` until that has arrived.
    ///
    /// - Throws: ``ImportError`` for a line above the limit.
    public mutating func next() throws(ImportError) -> [UInt8]? {
        guard let end = buffer[seen...].firstIndex(of: UInt8(ascii: "\n")) else {
            seen = buffer.count
            guard seen - start <= ArchiveLineJSON.maximumLineBytes else {
                throw ImportError(
                    ArchiveLineError(
                        nil, "is longer than \(ArchiveLineJSON.maximumLineBytes) bytes"),
                    line: number + 1)
            }
            return nil
        }
        return cut(at: end, next: end + 1)
    }

    /// The bytes after the last line end, after the last piece; `nil` if there are none.
    public mutating func last() -> [UInt8]? {
        start < buffer.count ? cut(at: buffer.count, next: buffer.count) : nil
    }

    private mutating func cut(at end: Int, next: Int) -> [UInt8] {
        let line = Array(buffer[start..<end])
        (start, seen) = (next, next)
        number += 1
        return line
    }
}
