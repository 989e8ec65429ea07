import Glibc
import MessagingWire

/// Reads the lines of a file, or of the standard input, a piece of it in memory at a time.
struct LineSource: ~Copyable {
    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    /// Where in the buffer the next line begins.
    private var start = 0
    private var isAtEnd = false
    /// The number of the line that was read last; the first is 1.
    private(set) var number = 0

    private static let piece = 256 << 10

    /// - Parameter path: `-` for the standard input.
    init(_ path: String) throws(StartFailure) {
        name = path == "-" ? "the standard input" : "the file \(path)"
        descriptor = path == "-" ? 0 : unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StartFailure("\(name) cannot be read") }
    }

    deinit { if descriptor > 0 { _ = Glibc.close(descriptor) } }

    /// The next line without its end; `nil` behind the last. Nothing behind the last end is no line.
    mutating func next() throws(StartFailure) -> [UInt8]? {
        var seen = start
        while true {
            if let end = buffer[seen...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[start..<end])
                start = end + 1
                number += 1
                return line
            }
            seen = buffer.count
            guard !isAtEnd else { break }
            guard seen - start <= MovedLineJSON.longest else {
                throw StartFailure(
                    "line \(number + 1): is longer than \(MovedLineJSON.longest) bytes")
            }
            seen -= start
            try fill()
        }
        guard start < buffer.count else { return nil }
        let line = Array(buffer[start...])
        start = buffer.count
        number += 1
        return line
    }

    /// Moves what is left to the front and reads behind it.
    private mutating func fill() throws(StartFailure) {
        buffer.removeSubrange(..<start)
        start = 0
        var piece = [UInt8](repeating: 0, count: Self.piece)
        var count: Int
        repeat {
            // Holds because the array lives through the call.
            count = unsafe piece.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
            }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw StartFailure("\(name) cannot be read") }
        isAtEnd = count == 0
        buffer += piece.prefix(count)
    }
}
