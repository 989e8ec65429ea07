import CLinux
import Glibc

/// A system call that failed: its name and what `errno` said.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call, such as `bind`.
    public let call: String
    /// The value of `errno`.
    public let code: Int32

    /// Takes the error of the call that just failed.
    init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// Why it failed, in the system's words, such as `Address already in use`.
    public var reason: String { unsafe String(cString: strerror(code)) }

    /// `bind: Address already in use`.
    public var description: String { "\(call): \(reason)" }

    /// Another process listens there.
    public var isAddressInUse: Bool { code == EADDRINUSE }

    /// This user may not do it.
    public var isDenied: Bool { code == EACCES || code == EPERM }
}
