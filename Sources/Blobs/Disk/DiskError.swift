import Glibc

/// A failed operation on the disk.
///
/// Callers decide by the kind; the code and the operation are for the log. ``description`` contains no path,
/// because the text may reach a client.
public struct DiskError: Error, Equatable, CustomStringConvertible {
    /// The kinds of failures that callers distinguish.
    public enum Kind: Sendable, Equatable {
        /// No space or quota is left (`ENOSPC`, `EDQUOT`, `EFBIG`): retry later.
        case full
        /// The file system is read-only (`EROFS`).
        case readOnly
        /// The device failed (`EIO`): bytes written since the last sync are lost.
        case broken
        /// The file does not exist (`ENOENT`).
        case missing
        /// The file already exists (`EEXIST`).
        case exists
        /// A part of the path is a file (`ENOTDIR`).
        case notFolder
        /// Permission denied (`EACCES`, `EPERM`).
        case denied
        /// The process or the machine has no descriptor left (`EMFILE`, `ENFILE`).
        case tooManyOpen
        /// The content of the file is invalid.
        case damaged
        /// Any other failure.
        case other

        fileprivate init(code: Int32) {
            switch code {
            case ENOSPC, EDQUOT, EFBIG: self = .full
            case EROFS: self = .readOnly
            case EIO: self = .broken
            case ENOENT: self = .missing
            case EEXIST: self = .exists
            case ENOTDIR: self = .notFolder
            case EACCES, EPERM: self = .denied
            case EMFILE, ENFILE: self = .tooManyOpen
            default: self = .other
            }
        }
    }

    /// The kind of the failure.
    public let kind: Kind
    /// The call that failed, such as `fdatasync`, or what was attempted, such as `reading a record`.
    public let operation: String
    /// The value of `errno`; 0 when no system call failed.
    public let code: Int32

    /// A failure without a failed system call, such as a damaged record.
    public init(kind: Kind, operation: String) {
        self.kind = kind
        self.operation = operation
        self.code = 0
    }

    init(operation: String, code: Int32) {
        self.kind = Kind(code: code)
        self.operation = operation
        self.code = code
    }

    /// Whether a write failed before it took effect; bytes written earlier are not affected.
    public var isWriteFailure: Bool { operation == "pwrite" }

    /// The system's text for the reason, such as `No such file or directory`.
    public var reason: String {
        // The text of `strerror` is copied before another call can change it.
        code == 0 ? "\(action) failed" : unsafe String(cString: strerror(code))
    }

    /// What failed and the reason, such as `creating a folder failed: No such file or directory`; never a path.
    public var description: String { code == 0 ? reason : "\(action) failed: \(reason)" }

    /// What was attempted, in words.
    private var action: String {
        switch operation {
        case "copy_file_range": "copying bytes"
        case "fallocate": "reserving space"
        case "fdatasync", "fsync": "making bytes durable"
        case "flock": "locking a file"
        case "fstat", "lstat": "finding a file"
        case "ftruncate": "resizing a file"
        case "link": "naming a file"
        case "mkdir": "creating a folder"
        case "open": "opening a file"
        case "opendir": "listing a folder"
        case "pread": "reading bytes"
        case "pwrite": "writing bytes"
        case "rename": "renaming a file"
        case "statvfs": "measuring free space"
        case "unlink": "deleting a file"
        default: operation
        }
    }
}

/// Runs a system call, repeats it when a signal interrupted it, and throws an error when it returns −1.
@discardableResult
func systemCall<Number: SignedInteger>(
    _ operation: StaticString, _ call: () -> Number
) throws(DiskError) -> Number {
    while true {
        let result = call()
        guard result == -1 else { return result }
        let code = errno
        if code != EINTR { throw DiskError(operation: "\(operation)", code: code) }
    }
}
