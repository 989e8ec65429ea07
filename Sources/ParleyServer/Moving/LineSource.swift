import Glibc
import Moving

/// Reads the lines of a file, or of the standard input, a piece of it in memory at a time.
struct LineSource: ~Copyable {
    private let descriptor: Int32
    private let name: String
    private var lines = LineCutter()
    private var piece = [UInt8](repeating: 0, count: 256 << 10)
    private var isAtEnd = false

    /// The number of the line that was read last; the first is 1.
    var number: Int { lines.number }

    /// - Parameter path: `-` for the standard input.
    init(_ path: String) throws(StartFailure) {
        name = path == "-" ? "the standard input" : "the file \(path)"
        descriptor = path == "-" ? 0 : unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(name) }
    }

    /// Called right after the call that failed.
    private static func unreadable(_ name: String) -> StartFailure {
        StartFailure("\(name) cannot be read: \(unsafe String(cString: strerror(errno)))")
    }

    deinit { if descriptor > 0 { _ = Glibc.close(descriptor) } }

    /// The next line without its end; `nil` behind the last. Nothing behind the last end is no line.
    mutating func next() throws -> [UInt8]? {
        while !isAtEnd {
            if let line = try lines.next() { return line }
            try fill()
        }
        return try lines.next() ?? lines.last()
    }

    private mutating func fill() throws(StartFailure) {
        var count: Int
        repeat {
            // Holds because the array lives through the call.
            count = unsafe piece.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
            }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw Self.unreadable(name) }
        isAtEnd = count == 0
        lines.append(piece[..<count])
    }
}
