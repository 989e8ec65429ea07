internal import Bytes
import Glibc

/// What an upload remembers on this side while it is not over: a file of the user's own that holds the
/// upload URL, which lets whoever has it write.
///
/// Locked as long as this lives, so a file goes to a conversation once at a time; the system lets the lock
/// go when the process dies. A file of the C boundary: buffers outlive the calls they are handed to.
final class ResumeFile {
    /// Where an upload goes on.
    struct Place: Equatable {
        let url: String
        let content: String
    }

    private let name: String
    private let descriptor: Int32

    private static let heading = "parley upload 1"

    /// Takes the memo of one file and one target.
    ///
    /// - Parameters:
    ///   - subject: Says both; its SHA-256 is the memo's name.
    ///   - folder: Made when missing, for its owner alone.
    /// - Throws: ``UploadFailure``, also while another process has it.
    init(of subject: String, in folder: String) throws(UploadFailure) {
        var made = ""
        for part in folder.split(separator: "/", omittingEmptySubsequences: false) {
            made += made.isEmpty && part.isEmpty ? "/" : "\(part)/"
            // What is missing afterwards is reported below.
            _ = unsafe mkdir(made, 0o700)
        }
        name = made + String(hexadecimal: SHA256.digest(of: Array(subject.utf8)))
        descriptor = try ResumeFile.lock(name)
    }

    deinit { close(descriptor) }

    /// Who was faster may have ended with the file in the meantime: a lock on one that has no name any
    /// more keeps nobody out.
    private static func lock(_ name: String) throws(UploadFailure) -> Int32 {
        while true {
            let descriptor = unsafe open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else {
                throw UploadFailure(
                    "\(name) cannot be written: \(unsafe String(cString: strerror(errno)))")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw UploadFailure("this file is being uploaded there already")
            }
            var (locked, named) = (stat(), stat())
            if unsafe fstat(descriptor, &locked) == 0, unsafe stat(name, &named) == 0,
                locked.st_ino == named.st_ino
            {
                return descriptor
            }
            close(descriptor)
        }
    }

    /// Where to go on; `nil` when nothing has begun, or was written down whole.
    var place: Place? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let lines = String(decoding: bytes[..<count], as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0] == ResumeFile.heading, lines[3].isEmpty else { return nil }
        return Place(url: String(lines[1]), content: String(lines[2]))
    }

    /// Writes down where to go on.
    func keep(_ place: Place) throws(UploadFailure) {
        let bytes = Array("\(ResumeFile.heading)\n\(place.url)\n\(place.content)\n".utf8)
        guard ftruncate(descriptor, 0) == 0,
            unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
        else {
            throw UploadFailure(
                "\(name) cannot be written: \(unsafe String(cString: strerror(errno)))")
        }
    }

    /// Nothing is left to go on with.
    func forget() {
        // One that cannot be removed leads to an upload that is over; the server says so.
        _ = unsafe unlink(name)
    }
}
