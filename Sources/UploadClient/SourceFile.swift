internal import Bytes
import Glibc

/// The file to upload, as it was when it was opened.
///
/// This file calls C functions; buffers outlive the calls that fill them and have the sizes passed to them.
final class SourceFile: Sendable {
    /// The size in bytes.
    let size: Int64
    /// Identifies the file and its version: device, inode, size and time of the last change.
    let identity: String
    /// The path as given.
    let name: String
    private let descriptor: Int32

    /// - Throws: ``UploadFailure`` for a file that cannot be read or is not a regular file; only regular files can
    ///   be read again.
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
            throw UploadFailure("\(name) is not a regular file")
        }
        size = Int64(status.st_size)
        identity = SourceFile.identity(name, status)
    }

    deinit { close(descriptor) }

    /// Reads at most that many bytes at a position; fewer only at the end of the file.
    ///
    /// - Throws: ``UploadFailure`` when the disk fails.
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
                throw UploadFailure(
                    "\(name) cannot be read: \(unsafe String(cString: strerror(errno)))")
            }
            guard got > 0 else { break }
            filled += got
        }
        return filled == count ? bytes : Array(bytes[..<filled])
    }

    /// The SHA-256 of the whole file; reads all of it.
    func digest() throws(UploadFailure) -> [UInt8] {
        var hash = SHA256()
        var position: Int64 = 0
        while position < size {
            if Task.isCancelled { throw UploadFailure("cancelled", isCancelled: true) }
            let piece = try read(256 << 10, at: position)
            guard !piece.isEmpty else { throw changed }
            hash.update(piece.span)
            position += Int64(piece.count)
        }
        return hash.digest
    }

    /// - Throws: ``UploadFailure`` when the file has changed since it was opened.
    func requireUnchanged() throws(UploadFailure) {
        guard let status = SourceFile.status(of: descriptor),
            SourceFile.identity(name, status) == identity
        else { throw changed }
    }

    var changed: UploadFailure { UploadFailure("\(name) changed during the upload") }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? status : nil
    }

    private static func identity(_ name: String, _ status: stat) -> String {
        let time = status.st_mtim
        return "\(status.st_dev) \(status.st_ino) \(status.st_size) \(time.tv_sec).\(time.tv_nsec)"
    }
}
