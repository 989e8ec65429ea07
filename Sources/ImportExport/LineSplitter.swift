public import Messaging
internal import MessagingWire

/// Cuts bytes that come in pieces into lines; memory holds one line and one piece.
public struct LineSplitter {
    private var buffer: [UInt8] = []
    /// Where in the buffer the next line begins.
    private var start = 0
    /// Up to where it has been looked through for an end.
    private var seen = 0
    /// The number of the line that was cut last; the first is 1.
    public private(set) var number = 0

    /// Nothing yet.
    public init() {}

    /// Takes the next piece.
    public mutating func append(_ piece: some Sequence<UInt8>) {
        buffer.removeSubrange(..<start)
        seen -= start
        start = 0
        buffer.append(contentsOf: piece)
    }

    /// The next line without its end; `nil` while that has not come.
    ///
    /// - Throws: When it is longer than a line may be.
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
        return cut(at: end, behind: end + 1)
    }

    /// What stands behind the last end, after the last piece: a line, unless it is empty.
    public mutating func last() -> [UInt8]? {
        start < buffer.count ? cut(at: buffer.count, behind: buffer.count) : nil
    }

    private mutating func cut(at end: Int, behind next: Int) -> [UInt8] {
        let line = Array(buffer[start..<end])
        (start, seen) = (next, next)
        number += 1
        return line
    }
}
