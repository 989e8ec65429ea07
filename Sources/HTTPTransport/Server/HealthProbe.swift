import CLinux
import Glibc

// C boundary: every argument of the system calls is a local value that lives through the call, with its own size.

/// Checks whether a local server is ready, for the health check of a container.
///
/// It blocks, and is meant for a separate process.
public enum HealthProbe {
    /// Sends `GET path` and returns the status code.
    ///
    /// - Parameter timeout: Seconds for each of connecting, sending and receiving.
    /// - Throws: ``SystemError`` when there is no response.
    public static func status(of address: ListenAddress, path: String, timeout: Int = 3) throws
        -> Int
    {
        let family: Int32 =
            switch address {
            case .ipv4: AF_INET
            case .ipv6: AF_INET6
            case .unix: AF_UNIX
            }
        let descriptor = socket(
            family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        defer { close(descriptor) }
        var interval = timeval(tv_sec: timeout, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, option, &interval, socklen_t(MemoryLayout<timeval>.size))
        }
        let connected = unsafe SocketAddress.withKernelForm(address) { form, length in
            unsafe connect(descriptor, form, length)
        }
        guard connected == 0 else { throw SystemError("connect") }
        let request = Array(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        guard unsafe send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
        else {
            throw SystemError("send")
        }
        var answer = [UInt8](repeating: 0, count: 256)
        let count = unsafe recv(descriptor, &answer, answer.count, 0)
        // A connection that ends without a response sets no `errno`.
        guard count > 0 else { throw SystemError("recv", code: count == 0 ? ECONNRESET : errno) }
        let words = answer[..<count].split(separator: UInt8(ascii: " "), maxSplits: 2)
        return words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
    }
}
