import CCurl
import Dispatch
import Glibc
import SystemSupport

/// A socket of libcurl, watched for readiness by Dispatch. Used only on its queue.
///
/// It watches a duplicate of the descriptor: libcurl closes its own at any time, but Dispatch must have
/// cancelled its sources before the number is used again.
final class WatchedSocket {
    private let duplicate: DuplicateDescriptor
    private let queue: DispatchQueue
    private let onReady: @Sendable (_ events: Int32) -> Void
    private var reading: (any DispatchSourceProtocol)?
    private var writing: (any DispatchSourceProtocol)?

    /// A descriptor that is closed with its last reference, here when the sources are cancelled.
    private final class DuplicateDescriptor: Sendable {
        let number: Int32

        init(_ number: Int32) { self.number = number }

        deinit { close(number) }
    }

    /// - Returns: `nil` when the process has no descriptor left.
    init?(
        _ descriptor: Int32, _ queue: DispatchQueue,
        _ onReady: @escaping @Sendable (_ events: Int32) -> Void
    ) {
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard number >= 0 else { return nil }
        duplicate = DuplicateDescriptor(number)
        guard DescriptorLimit.leavesReserve(above: number, for: .connection) else { return nil }
        self.queue = queue
        self.onReady = onReady
    }

    deinit {
        reading?.cancel()
        writing?.cancel()
    }

    /// Changes the events to wait for.
    func watch(reading wantsToRead: Bool, writing wantsToWrite: Bool) {
        change(&reading, wantsToRead, Int32(CURL_EVENT_IN)) { [duplicate, queue] in
            DispatchSource.makeReadSource(fileDescriptor: duplicate.number, queue: queue)
        }
        change(&writing, wantsToWrite, Int32(CURL_EVENT_OUT)) { [duplicate, queue] in
            DispatchSource.makeWriteSource(fileDescriptor: duplicate.number, queue: queue)
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
        source.setCancelHandler { [duplicate] in withExtendedLifetime(duplicate) {} }
        source.activate()
        watched = source
    }
}
