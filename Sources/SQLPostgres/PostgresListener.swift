import CLinux
import Dispatch
import Glibc
import SQL
import SystemSupport

/// Receives the notifications of other processes, on its own connection and thread.
///
/// After a connection breaks it reconnects and reports ``ChangeNotification/missed``.
final class PostgresListener: Sendable {
    private let queue = DispatchQueue(label: "sql.listener")
    private let url: String
    private let session: PostgresSession
    /// An eventfd that is readable once the database is closed.
    private let end: Int32
    private let hasStarted = Locked(false)

    init(to url: String, _ session: PostgresSession) {
        self.url = url
        self.session = session
        // If no descriptor is left this is -1, which `poll` ignores; closing then waits for a notification or
        // a broken connection. The constants of eventfd are not imported; they equal those of `open` by
        // definition.
        end = eventfd(0, O_NONBLOCK | O_CLOEXEC)
    }

    deinit { if end >= 0 { _ = Glibc.close(end) } }

    /// Starts to listen; only the first call has an effect.
    func start(_ receive: @escaping @Sendable (ChangeNotification) -> Void) {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else { return }
        queue.async { [self] in
            let connection = PostgresConnection(to: url, session)
            defer { connection.close() }
            while !isOver(within: .zero) { listen(on: connection, receive) }
        }
    }

    /// Stops, and waits for the last call of the receiver.
    func stop() {
        if end >= 0 { eventfd_write(end, 1) }
        queue.sync {}
    }

    /// Listens until the connection breaks or the database is closed.
    private func listen(on connection: PostgresConnection, _ receive: (ChangeNotification) -> Void)
    {
        do {
            try connection.beginListening()
            receive(.missed)
            while !isOver(within: nil, or: connection.socket) {
                for text in try connection.notifications() {
                    if let notification = ChangeNotification(text) { receive(notification) }
                }
            }
        } catch {
            // Other connections report that the server is unreachable; receivers poll in addition.
            // `ReconnectDelay` bounds the attempts.
            connection.disconnect()
            _ = isOver(within: .milliseconds(100))
        }
    }

    /// Waits until the database is closed, a descriptor is readable, or a time has passed.
    ///
    /// - Returns: Whether the database is closed.
    private func isOver(within timeout: Duration?, or socket: Int32 = -1) -> Bool {
        var descriptors = [
            pollfd(fd: end, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = timeout.map { timeout in Int32(timeout / .milliseconds(1)) } ?? -1
        // Safe: the array outlives the call. An interrupted call is repeated by the caller's loop.
        _ = unsafe poll(&descriptors, 2, milliseconds)
        return descriptors[0].revents != 0
    }
}
