import CLinux
import Dispatch
import Glibc
import Locking

/// Hears what other processes say of their changes, on a connection and a thread of its own.
///
/// A connection that breaks is made anew, and then ``Hint/missed`` says that something may have passed.
final class PostgresListener: Sendable {
    private let queue = DispatchQueue(label: "sql.listener")
    private let url: String
    private let session: PostgresSession
    /// Can be read once the database is closed.
    private let end: Int32
    private let hasStarted = Locked(false)

    init(to url: String, _ session: PostgresSession) {
        self.url = url
        self.session = session
        // None left makes it -1, which `poll` leaves out: closing then waits for a look's patience.
        // The constants of eventfd are not imported; they equal those of `open` by definition.
        end = eventfd(0, O_NONBLOCK | O_CLOEXEC)
    }

    deinit { if end >= 0 { _ = Glibc.close(end) } }

    /// Begins to listen, once.
    func start(_ hear: @escaping @Sendable (Hint) -> Void) {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else { return }
        queue.async { [self] in
            let connection = PostgresConnection(to: url, session)
            defer { connection.close() }
            while !isOver(within: .zero) { listen(on: connection, hear) }
        }
    }

    /// Waits until nothing more is heard.
    func stop() {
        if end >= 0 { eventfd_write(end, 1) }
        queue.sync {}
    }

    /// Listens until the connection breaks, or the end.
    private func listen(on connection: PostgresConnection, _ hear: (Hint) -> Void) {
        do {
            try connection.beginListening()
            hear(.missed)
            while !isOver(within: nil, or: connection.socket) {
                for text in try connection.heard() {
                    if let hint = Hint(text) { hear(hint) }
                }
            }
        } catch {
            // Nobody misses what a look finds a little later; the server itself is complained about by
            // whoever needs it. It is asked again as often as `ReconnectDelay` lets us.
            connection.disconnect()
            _ = isOver(within: .milliseconds(100))
        }
    }

    /// Waits until the end, or until there is something to read.
    ///
    /// - Returns: Whether it is the end.
    private func isOver(within patience: Duration?, or socket: Int32 = -1) -> Bool {
        var descriptors = [
            pollfd(fd: end, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = patience.map { patience in Int32(patience / .milliseconds(1)) } ?? -1
        // Holds because the array lives through the call. Interrupted it is only asked again.
        _ = unsafe poll(&descriptors, 2, milliseconds)
        return descriptors[0].revents != 0
    }
}
