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

    /// `bind: Address already in use`.
    public var description: String { "\(call): \(unsafe String(cString: strerror(code)))" }

    /// Another process listens there.
    public var isAddressInUse: Bool { code == EADDRINUSE }
}
