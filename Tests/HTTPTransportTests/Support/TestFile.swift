import Glibc
import HTTP

/// A temporary file with that content, gone with the object.
final class TestFile: FileContent {
    let descriptor: Int32

    init(_ octets: [UInt8]) throws {
        var name = Array("/tmp/parley-http-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Client.Failure.system(errno) }
        unlink(&name)
        var written = 0
        while written < octets.count {
            let count = octets[written...].withUnsafeBytes { rest in
                write(descriptor, rest.baseAddress, rest.count)
            }
            guard count > 0 else { throw Client.Failure.system(errno) }
            written += count
        }
    }

    deinit { close(descriptor) }

    /// Content that differs from place to place.
    static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { number in UInt8(truncatingIfNeeded: number &* 31 ^ number >> 8) }
    }
}
