import HTTP

/// The line of a connection whose answer goes on after its head.
///
/// Made when such an answer begins and gone when it ends, so that an idle connection is none the
/// bigger for it. What the handler asks for is noted here; the connection sees to it at the end of
/// the turn.
final class ConnectionChannel: ByteChannel, @unchecked Sendable {
    // Sendable because everything but `perform` is used on the loop, and `loop` never changes.

    /// How bytes go over the line.
    enum Form: Equatable {
        /// A content, framed.
        case chunks
        /// A content of which so many bytes are still to come, as its head states (H88).
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
    let handler: any ByteChannelHandler
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
        _ connection: Connection, _ form: Form, _ handler: any ByteChannelHandler,
        _ record: RequestRecord,
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
        didSet { if isReading, !oldValue { connection?.resumeChannelLater() } }
    }

    /// Whether bytes that come are handed over.
    var takesBytes: Bool { form == .upgraded && isReading && wish == .goOn }

    func send(_ bytes: [UInt8]) {
        guard let connection, wish == .goOn, !bytes.isEmpty else { return }
        if waiting.isEmpty {
            waiting = bytes
        } else if waiting.count + bytes.count <= SendQueue.gathered {
            waiting += bytes
        } else {
            connection.queueWaiting(of: self)
            waiting = bytes
        }
        if queuedCount > Int64(connection.configuration.writeHigh) { isFull = true }
        connection.flushLater()
    }

    func setDeadline(_ time: Int64) { connection?.setPhaseDeadline(time) }

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

// What goes on after the head of an answer: contents of unknown length, and other protocols.
extension Connection {
    /// Hands the rest of an answer, whose head is queued, to its handler.
    ///
    /// - Parameter left: How many bytes of the request's body nobody read; thrown away meanwhile.
    func open(_ line: ConnectionChannel, left: Int64) {
        phase = .line(line)
        self.left = left
        setPhaseDeadline(.max)
        line.handler.opened(line)
        if server.isDraining { notifyStopping(line) }
        // What it sent at once leaves together with the head (H87, H151).
        settle(line)
    }

    /// Does what the handler asked for in this turn.
    func settle(_ line: ConnectionChannel) {
        if line.wish == .abort { return abort("aborted") }
        queueWaiting(of: line)
        switch line.wish {
        case .goOn: return
        case .finish where line.isWhole: end(line)
        case .finish, .abort: abort("aborted")
        }
    }

    /// Puts what the line was given into the output, framed.
    func queueWaiting(of line: ConnectionChannel) {
        let bytes = line.takeWaiting()
        guard !bytes.isEmpty else { return }
        let before = output.count
        if line.form == .chunks {
            borrowOutput()
            output.append(ChunkFraming.head(bytes.count))
            output.append(bytes)
            output.append(ChunkFraming.end)
        } else {
            output.append(bytes)
        }
        line.record.bytesOut += output.count - before
        wantsFlush = true
    }

    /// Goes on with the line in the next turn, so that its handler is not called from its own call.
    func resumeChannelLater() {
        guard !isScheduledToRead else { return }
        isScheduledToRead = true
        loop.resumeReading(self)
    }

    /// Called by the loop: tells of room, and hands over what was kept back.
    func goOn(_ line: ConnectionChannel) {
        if hasRoom { line.tellDrained() }
        if line.takesBytes { consumeInput() }
    }

    /// Some of the output has left.
    func outputAdvanced() {
        if case .line(let line) = phase, line.isFull, hasRoom { resumeChannelLater() }
    }

    private var hasRoom: Bool { output.count <= Int64(configuration.writeLow) }

    /// The server stops; said once (H194).
    func notifyStopping(_ line: ConnectionChannel) {
        guard !line.isStopping else { return }
        line.isStopping = true
        line.handler.stopping()
    }

    /// The line is at its end: a content is complete, the other protocol is done.
    func end(_ line: ConnectionChannel) {
        queueWaiting(of: line)
        if line.form == .chunks {
            borrowOutput()
            output.append(ChunkFraming.last)
            line.record.bytesOut += Int64(ChunkFraming.last.count)
        }
        if line.form == .upgraded { mustClose = true }
        wantsFlush = true
        report(&line.record, since: line.startedAt)
        conclude(left: left)
        line.close()
    }

    /// The connection broke.
    ///
    /// - Parameter unsent: Bytes that are lost with it.
    func giveUp(_ line: ConnectionChannel, _ reason: String, unsent: Int64) {
        line.record.bytesOut = max(line.record.bytesOut - unsent, 0)
        line.record.closing = reason
        report(&line.record, since: line.startedAt)
        line.close()
    }
}
