import HTTP

/// The line of a connection whose answer goes on after its head.
///
/// Made when such an answer begins and gone when it ends, so that an idle connection is none the
/// bigger for it. What the handler asks for is noted here; the connection sees to it at the end of
/// the turn.
final class OpenLine: Line, @unchecked Sendable {
    // Sendable because everything but `perform` is used on the loop, and `loop` never changes.

    /// How octets go over the line.
    enum Form: Equatable {
        /// A content, framed.
        case chunks
        /// A content of which so many octets are still to come, as its head states (H88).
        case counted(Int64)
        /// A content that ends with the connection (H90).
        case plain
        /// Another protocol, both ways.
        case upgraded
    }

    /// What the handler has asked for.
    enum Wish {
        case goOn, finish, abort
    }

    private(set) var form: Form
    let handler: any LineHandler
    let startedAt: Int64
    var record: RequestRecord
    private(set) var wish = Wish.goOn
    private(set) var isFull = false
    /// The handler has been told that the server stops.
    var isStopping = false

    private let loop: EventLoop
    private var connection: Connection?
    /// What was sent in this turn and is not framed yet; the handler's own array while it is alone.
    private var waiting: [UInt8] = []

    init(
        _ connection: Connection, _ form: Form, _ handler: any LineHandler, _ record: RequestRecord,
        startedAt: Int64
    ) {
        self.connection = connection
        self.form = form
        self.handler = handler
        self.record = record
        self.startedAt = startedAt
        loop = connection.loop
    }

    var milliseconds: Int64 { loop.now }

    var queuedCount: Int64 {
        guard let connection else { return 0 }
        return connection.output.count + Int64(waiting.count)
    }

    var isReading = true {
        didSet { if isReading, !oldValue { connection?.goOnLater() } }
    }

    /// Whether octets that come are handed over.
    var takesOctets: Bool { form == .upgraded && isReading && wish == .goOn }

    func send(_ octets: [UInt8]) {
        guard let connection, wish == .goOn, !octets.isEmpty else { return }
        if waiting.isEmpty {
            waiting = octets
        } else if waiting.count + octets.count <= SendQueue.gathered {
            waiting += octets
        } else {
            connection.queueWaiting(of: self)
            waiting = octets
        }
        if queuedCount > Int64(connection.configuration.writeHigh) { isFull = true }
        connection.flushLater()
    }

    func setDeadline(_ time: Int64) { connection?.setDue(time) }

    func finish() { wants(.finish) }

    func abort() { wants(.abort) }

    private func wants(_ change: Wish) {
        guard let connection, wish != .abort else { return }
        wish = change
        connection.flushLater()
    }

    func perform(_ work: @escaping @Sendable () -> Void) {
        loop.perform { [self] in if connection != nil { work() } }
    }

    /// Takes what was sent in this turn; more than its head states is never sent.
    func takeWaiting() -> [UInt8] {
        defer { waiting = [] }
        guard case .counted(let left) = form else { return waiting }
        guard waiting.count <= left else {
            wish = .abort
            return []
        }
        form = .counted(left - Int64(waiting.count))
        return waiting
    }

    /// Whether it ends where its head says.
    var isWhole: Bool { if case .counted(let left) = form { left == 0 } else { true } }

    /// Tells the handler that there is room again.
    func tellDrained() {
        guard isFull else { return }
        isFull = false
        handler.drained()
    }

    /// Parts from the connection and says good-bye to the handler.
    func close() {
        connection = nil
        waiting = []
        handler.closed()
    }
}
