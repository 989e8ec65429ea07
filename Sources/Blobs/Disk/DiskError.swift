import Glibc

/// A system call on the disk that did not do what was asked.
///
/// The kind is what a caller decides on; the code and the operation are for the log. The path is
/// kept out of ``description`` wherever the text might reach a client: only ``operation`` is said.
public struct DiskError: Error, Equatable, CustomStringConvertible {
    /// What a caller can do about it.
    public enum Kind: Sendable, Equatable {
        /// No space or no quota left (`ENOSPC`, `EDQUOT`, `EFBIG`): try again later.
        case full
        /// The file system does not take writes (`EROFS`).
        case readOnly
        /// The device failed (`EIO`): what was written since the last sync is lost.
        case broken
        /// There is no such file (`ENOENT`).
        case missing
        /// The file is there already (`EEXIST`).
        case exists
        /// Not allowed (`EACCES`, `EPERM`).
        case denied
        /// No descriptor left in this process or machine (`EMFILE`, `ENFILE`).
        case tooManyOpen
        /// The file does not hold what it should.
        case damaged
        case other
    }

    /// What a caller can do about it.
    public let kind: Kind
    /// The call that failed, such as `fdatasync`.
    public let operation: String
    /// `errno`, or 0 where no system call failed.
    public let code: Int32

    /// Describes a failure that is not a system call's, such as a damaged record.
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

    /// A write was refused before it took effect; what was written before is as good as it was.
    public var isWriteFailure: Bool { operation == "pwrite" }

    /// Why it failed, in the system's words, such as `No such file or directory`.
    public var reason: String {
        code == 0 ? operation : unsafe String(cString: strerror(code))
    }

    /// The operation and why it failed, such as `mkdir: No such file or directory`; never a path.
    public var description: String { code == 0 ? operation : "\(operation): \(reason)" }
}

extension DiskError.Kind {
    init(code: Int32) {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: self = .full
        case EROFS: self = .readOnly
        case EIO: self = .broken
        case ENOENT: self = .missing
        case EEXIST: self = .exists
        case EACCES, EPERM: self = .denied
        case EMFILE, ENFILE: self = .tooManyOpen
        default: self = .other
        }
    }
}

/// Runs one system call, again when a signal interrupted it, and turns −1 into an error.
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
