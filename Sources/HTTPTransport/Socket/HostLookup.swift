import CLinux
import Glibc
public import HTTP
internal import SystemSupport

/// Resolves host names on its own queue, because `getaddrinfo` blocks.
public final class HostLookup: Sendable {
    private let queue = WorkQueue("parley.names")

    /// Creates a resolver.
    public init() {}

    /// All addresses of a host name or of an address; empty for an unknown name, and when it takes too long.
    ///
    /// - Parameter limit: The time limit; the system's lookup continues in the background.
    public func addresses(of host: String, within limit: Duration) async -> [PeerAddress] {
        // A task group would wait for the lookup, however long it takes.
        await withCheckedContinuation { continuation in
            let waiting = Locked<CheckedContinuation<[PeerAddress], Never>?>(continuation)
            @Sendable func answer(_ addresses: [PeerAddress]) {
                let waiter = waiting.withLock { waiter in
                    defer { waiter = nil }
                    return waiter
                }
                waiter?.resume(returning: addresses)
            }
            let end = Task {
                // When it is cancelled, the lookup has finished.
                try? await Task.sleep(for: limit)
                answer([])
            }
            Task { [queue] in
                answer(await queue.run { Self.lookUp(host) })
                end.cancel()
            }
        }
    }

    // C boundary: the list is freed at the end of the function, after its addresses were copied.
    private static func lookUp(_ host: String) -> [PeerAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [PeerAddress] = []
        var entry = unsafe list
        while let one = unsafe entry {
            if let address = unsafe one.pointee.ai_addr {
                var storage = sockaddr_storage()
                let length = min(
                    Int(unsafe one.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
                unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                    unsafe bytes.copyMemory(
                        from: UnsafeRawBufferPointer(start: address, count: length))
                }
                found.append(SocketAddress.peer(storage))
            }
            unsafe entry = one.pointee.ai_next
        }
        return found
    }
}
