package import CLinux
import Glibc
package import HTTP

/// Conversions between the kernel's socket addresses and our types.
///
/// The only file that reads `sockaddr`: each pointer is valid for the call it is passed to.
package enum SocketAddress {
    /// Calls `body` with the kernel's form of an address.
    static func withKernelForm<Result>(
        _ address: ListenAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        switch address {
        case .ipv4(let bits, let port):
            var form = sockaddr_in()
            form.sin_family = sa_family_t(AF_INET)
            form.sin_port = port.bigEndian
            form.sin_addr.s_addr = bits.bigEndian
            return unsafe withUnsafeBytes(of: &form) { bytes in
                unsafe body(
                    bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(bytes.count))
            }
        case .ipv6(let address, let port):
            var form = sockaddr_in6()
            form.sin6_family = sa_family_t(AF_INET6)
            form.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &form.sin6_addr) { bytes in
                unsafe bytes.storeBytes(of: address.high.bigEndian, as: UInt64.self)
                unsafe bytes.storeBytes(
                    of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return unsafe withUnsafeBytes(of: &form) { bytes in
                unsafe body(
                    bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(bytes.count))
            }
        case .unix(let path):
            var form = sockaddr_un()
            form.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &form.sun_path) { bytes in
                unsafe bytes.copyBytes(from: path.utf8.prefix(107))
            }
            return unsafe withUnsafeBytes(of: &form) { bytes in
                unsafe body(
                    bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(bytes.count))
            }
        }
    }

    /// The peer of a connection, from the result of `accept4`.
    package static func peer(_ storage: sockaddr_storage) -> PeerAddress {
        unsafe withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let form = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
                return .ipv4(
                    UInt32(bigEndian: form.sin_addr.s_addr), port: UInt16(bigEndian: form.sin_port))
            case AF_INET6:
                var form = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
                let address = unsafe withUnsafeBytes(of: &form.sin6_addr) { bytes in
                    unsafe read(bytes)
                }
                let port = UInt16(bigEndian: form.sin6_port)
                // An IPv4 peer of a dual-stack socket is reported as IPv4.
                if let bits = address.mappedIPv4 { return .ipv4(bits, port: port) }
                return .ipv6(address, port: port)
            case AF_UNIX: return .local
            default: return .unknown
            }
        }
    }

    /// The port of a listening socket.
    static func boundPort(_ descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe getsockname(
                descriptor,
                bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self),
                &length)
        }
        switch peer(storage) {
        case .ipv4(_, let port), .ipv6(_, let port): return port
        case .local, .unknown: return 0
        }
    }

    /// Parses an IPv4 address in dotted decimal form.
    static func parseIPv4(_ text: String) -> UInt32? {
        var bits = in_addr()
        guard unsafe inet_pton(AF_INET, text, &bits) == 1 else { return nil }
        return UInt32(bigEndian: bits.s_addr)
    }

    /// Parses an IPv6 address in any text form of RFC 4291 §2.2.
    static func parseIPv6(_ text: String) -> IPv6Address? {
        var form = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &form) == 1 else { return nil }
        return unsafe withUnsafeBytes(of: &form) { bytes in unsafe read(bytes) }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> IPv6Address {
        unsafe IPv6Address(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// The shortest text form of an IPv6 address.
    static func formatIPv6(_ address: IPv6Address) -> String {
        var bits = (address.high.bigEndian, address.low.bigEndian)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        unsafe inet_ntop(AF_INET6, &bits, &text, socklen_t(INET6_ADDRSTRLEN))
        return String(
            decoding: text.prefix { byte in byte != 0 }.map(UInt8.init(bitPattern:)),
            as: UTF8.self)
    }
}
