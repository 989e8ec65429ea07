internal import Bytes
import Glibc

/// The file by which an interrupted upload resumes: it holds the upload URL, which gives write access, so only its
/// owner may read it.
///
/// It is locked while this object lives, so a file is uploaded to a conversation once at a time; the system
/// releases the lock when the process ends. This file calls C functions; buffers outlive the calls they are passed
/// to.
final class ResumeFile {
    /// An upload that exists on the server.
    struct StartedUpload: Equatable {
        let url: String
        let content: String
    }

    private let name: String
    private let descriptor: Int32

    private static let heading = "parley upload 1"

    /// Opens and locks the resume file of one file and one target.
    ///
    /// - Parameters:
    ///   - subject: Identifies both; its SHA-256 is the name of the resume file.
    ///   - folder: Created when missing, for its owner only.
    /// - Throws: ``UploadFailure``, also while another process has the lock.
    init(of subject: String, in folder: String) throws(UploadFailure) {
        var made = ""
        for part in folder.split(separator: "/", omittingEmptySubsequences: false) {
            made += made.isEmpty && part.isEmpty ? "/" : "\(part)/"
            // If a folder is still missing, opening the file reports it.
            _ = unsafe mkdir(made, 0o700)
        }
        name = made + String(hexadecimal: SHA256.digest(of: Array(subject.utf8)))
        descriptor = try ResumeFile.lock(name)
    }

    deinit { close(descriptor) }

    /// Another process may have finished and deleted the file before it was locked; a lock on a deleted file
    /// excludes no other process, so the name is checked again.
    private static func lock(_ name: String) throws(UploadFailure) -> Int32 {
        while true {
            let descriptor = unsafe open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else {
                throw UploadFailure(
                    "\(name) cannot be written: \(unsafe String(cString: strerror(errno)))")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw UploadFailure("this file is already being uploaded to this conversation")
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

    /// The upload to resume; `nil` when nothing was started, or the file is incomplete.
    var startedUpload: StartedUpload? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let lines = String(decoding: bytes[..<count], as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0] == ResumeFile.heading, lines[3].isEmpty else { return nil }
        return StartedUpload(url: String(lines[1]), content: String(lines[2]))
    }

    /// Stores the upload to resume.
    func keep(_ upload: StartedUpload) throws(UploadFailure) {
        let bytes = Array("\(ResumeFile.heading)\n\(upload.url)\n\(upload.content)\n".utf8)
        guard ftruncate(descriptor, 0) == 0,
            unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
        else {
            throw UploadFailure(
                "\(name) cannot be written: \(unsafe String(cString: strerror(errno)))")
        }
    }

    /// Deletes the file, because the upload has ended.
    func forget() {
        // A file that cannot be deleted names an ended upload; the server then reports that.
        _ = unsafe unlink(name)
    }
}
