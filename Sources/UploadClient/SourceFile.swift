internal import Bytes
import Glibc

/// The file that is brought, as it was when it was opened.
///
/// A file of the C boundary: buffers outlive the calls that fill them, and hold as much as these are told.
final class SourceFile: Sendable {
    /// Bytes.
    let size: Int64
    /// What tells it from every other file and from itself after a change: its path, where it lies on
    /// the disk, its size and the time of its last change.
    let identity: String
    /// As it was given, with its folders.
    let name: String
    private let descriptor: Int32

    /// - Throws: ``UploadFailure`` for what cannot be read, and for what is no plain file: only its
    ///   bytes stay the same when they are read again.
    init(_ name: String) throws(UploadFailure) {
        self.name = name
        descriptor = unsafe open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw UploadFailure(
                "\(name) cannot be read: \(unsafe String(cString: strerror(errno)))")
        }
        guard let status = SourceFile.status(of: descriptor),
            status.st_mode & S_IFMT == S_IFREG
        else {
            close(descriptor)
            throw UploadFailure("\(name) is no file")
        }
        size = Int64(status.st_size)
        identity = SourceFile.identity(name, status)
    }

    deinit { close(descriptor) }

    /// At most so many bytes from a position on; fewer only at its end.
    ///
    /// - Throws: ``UploadFailure`` when the disk does not give them.
    func read(_ count: Int, at position: Int64) throws(UploadFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe pread(
                    descriptor, bytes.baseAddress?.advanced(by: filled), count - filled,
                    off_t(position) + off_t(filled))
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                throw UploadFailure("\(name): \(unsafe String(cString: strerror(errno)))")
            }
            guard got > 0 else { break }
            filled += got
        }
        return filled == count ? bytes : Array(bytes[..<filled])
    }

    /// SHA-256 of all of it. Takes as long as reading it does.
    func digest() throws(UploadFailure) -> [UInt8] {
        var hash = SHA256()
        var position: Int64 = 0
        while position < size {
            if Task.isCancelled { throw UploadFailure("stopped", isCancelled: true) }
            let piece = try read(256 << 10, at: position)
            guard !piece.isEmpty else { throw changed }
            hash.update(piece.span)
            position += Int64(piece.count)
        }
        return hash.digest
    }

    /// - Throws: ``UploadFailure`` when somebody has written to it since it was opened.
    func requireUnchanged() throws(UploadFailure) {
        guard let status = SourceFile.status(of: descriptor),
            SourceFile.identity(name, status) == identity
        else { throw changed }
    }

    var changed: UploadFailure { UploadFailure("\(name) changes while it is sent") }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? status : nil
    }

    private static func identity(_ name: String, _ status: stat) -> String {
        let time = status.st_mtim
        return "\(status.st_dev) \(status.st_ino) \(status.st_size) \(time.tv_sec).\(time.tv_nsec)"
    }
}
