import Glibc

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
