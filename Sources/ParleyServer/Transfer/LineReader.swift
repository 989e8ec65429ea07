import Glibc
import ImportExport

/// Reads the lines of a file or of standard input; memory holds one piece.
struct LineReader: ~Copyable {
    private let descriptor: Int32
    private let name: String
    private var lines = LineSplitter()
    private var piece = [UInt8](repeating: 0, count: 256 << 10)
    private var isAtEnd = false

    /// The number of the line read last; the first is 1.
    var number: Int { lines.number }

    /// - Parameter path: `-` for standard input.
    init(_ path: String) throws(CommandFailure) {
        name = path == "-" ? "the standard input" : "the file \(path)"
        // The text lives through the call.
        descriptor = path == "-" ? 0 : unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(name) }
    }

    /// Call directly after the failed call, before `errno` changes.
    private static func unreadable(_ name: String) -> CommandFailure {
        // The text of `strerror` is copied before another call can change it.
        CommandFailure("\(name) cannot be read: \(unsafe String(cString: strerror(errno)))")
    }

    deinit { if descriptor > 0 { _ = Glibc.close(descriptor) } }

    /// The next line without its line end; `nil` at the end.
    mutating func next() throws -> [UInt8]? {
        while !isAtEnd {
            if let line = try lines.next() { return line }
            try fill()
        }
        return try lines.next() ?? lines.last()
    }

    private mutating func fill() throws(CommandFailure) {
        var count: Int
        repeat {
            // Safe: the array lives through the call.
            count = unsafe piece.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
            }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw Self.unreadable(name) }
        isAtEnd = count == 0
        lines.append(piece[..<count])
    }
}

/// Buffered writing to standard output, by one thread at a time.
struct StandardOutput {
    private var waiting: [UInt8] = []

    private static let piece = 256 << 10

    init() { waiting.reserveCapacity(Self.piece * 2) }

    /// Adds bytes.
    ///
    /// - Throws: ``CommandFailure`` when the pipe is closed or the disk is full.
    mutating func write(_ bytes: [UInt8]) throws(CommandFailure) {
        waiting += bytes
        if waiting.count >= Self.piece { try flush() }
    }

    /// Writes the buffered bytes.
    mutating func flush() throws(CommandFailure) {
        var rest = waiting[...]
        while !rest.isEmpty {
            // Safe: the slice lives through the call.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(1, bytes.baseAddress, bytes.count)
            }
            guard count >= 0 || errno == EINTR else {
                throw CommandFailure(
                    "the standard output cannot be written (\(unsafe String(cString: strerror(errno)))): its reader has ended, or its disk is full"
                )
            }
            rest = rest.dropFirst(max(0, count))
        }
        waiting.removeAll(keepingCapacity: true)
    }
}
