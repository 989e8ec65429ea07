import CCurl
import Dispatch
import Glibc
import SystemSupport

/// A socket of libcurl's, and what it waits for; confined to its queue.
///
/// Watched is a second descriptor of the same socket: libcurl closes its own when it likes, while
/// Dispatch has to be let go of a descriptor before its number is used again.
final class WatchedSocket {
    private let own: OwnDescriptor
    private let queue: DispatchQueue
    private let onReady: @Sendable (_ events: Int32) -> Void
    private var reading: (any DispatchSourceProtocol)?
    private var writing: (any DispatchSourceProtocol)?

    /// A descriptor that is closed with the last one who holds it, here the sources' cancellation.
    private final class OwnDescriptor: Sendable {
        let number: Int32

        init(_ number: Int32) { self.number = number }

        deinit { close(number) }
    }

    /// `nil` when no descriptor is left for it.
    init?(
        _ descriptor: Int32, _ queue: DispatchQueue,
        _ onReady: @escaping @Sendable (_ events: Int32) -> Void
    ) {
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard number >= 0 else { return nil }
        own = OwnDescriptor(number)
        guard DescriptorLimit.leavesReserve(above: number, for: .connection) else { return nil }
        self.queue = queue
        self.onReady = onReady
    }

    deinit {
        reading?.cancel()
        writing?.cancel()
    }

    /// Changes what is waited for.
    func watch(reading wantsToRead: Bool, writing wantsToWrite: Bool) {
        change(&reading, wantsToRead, Int32(CURL_EVENT_IN)) { [own, queue] in
            DispatchSource.makeReadSource(fileDescriptor: own.number, queue: queue)
        }
        change(&writing, wantsToWrite, Int32(CURL_EVENT_OUT)) { [own, queue] in
            DispatchSource.makeWriteSource(fileDescriptor: own.number, queue: queue)
        }
    }

    private func change(
        _ watched: inout (any DispatchSourceProtocol)?, _ isWanted: Bool, _ event: Int32,
        _ make: () -> any DispatchSourceProtocol
    ) {
        guard isWanted else {
            watched?.cancel()
            watched = nil
            return
        }
        guard watched == nil else { return }
        let source = make()
        source.setEventHandler { [onReady] in onReady(event) }
        source.setCancelHandler { [own] in withExtendedLifetime(own) {} }
        source.activate()
        watched = source
    }
}
