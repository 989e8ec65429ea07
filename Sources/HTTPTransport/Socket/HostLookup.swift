import CLinux
import Glibc
public import HTTP
internal import SystemSupport

/// Looks up the addresses of hosts, on a queue of its own: the system's way to do it blocks.
///
/// The list that the system makes is walked inside the call that frees it.
public final class HostLookup: Sendable {
    private let queue = WorkQueue("parley.names")

    /// A queue for names.
    public init() {}

    /// All addresses of a name, or those that an address stands for; empty for a name nobody knows, and
    /// for one that takes too long.
    ///
    /// - Parameter limit: How long to wait for them; the look-up itself goes on behind it.
    public func addresses(of host: String, within limit: Duration) async -> [PeerAddress] {
        // Not a task group, which would wait for the look-up however long it takes.
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
                // Cancelled, somebody has answered.
                try? await Task.sleep(for: limit)
                answer([])
            }
            Task { [queue] in
                answer(await queue.run { Self.lookUp(host) })
                end.cancel()
            }
        }
    }

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
