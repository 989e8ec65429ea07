import CLinux
import Glibc
import HTTP

/// One connection: heads in, answers out, in order.
///
/// Confined to its loop. It owns memory only for a partial request or unsent output; while idle it is
/// this object alone. What it does lies in rooms of its own: reading, requests, bodies, answers,
/// sending, ending.
final class Connection: @unchecked Sendable {
    // Sendable because every use is on the loop; other threads reach it through `loop.perform`.

    /// What the connection is about.
    enum Phase {
        /// Between requests, or inside a head.
        case head
        /// A handler works.
        case working(Exchange)
        /// The answer goes on after its head, as long as its handler likes; `left` octets of the
        /// request's body are thrown away meanwhile.
        case line(OpenLine)
        /// The answer is out or on its way; `left` octets of the request's body are thrown away (H92).
        case draining
        /// The last answer is on its way, then comes the orderly close (H96).
        case closing
        /// Our side is shut; up to `left` octets that the peer still sends are thrown away (H96).
        case lingering
        /// Gone.
        case closed
    }

    let descriptor: Int32
    let generation: UInt32
    let peer: PeerAddress
    /// Whom the connection is counted for (H182).
    let client: AddressCounts.Client?
    /// The peer is a proxy that is believed (H198).
    let isTrusted: Bool
    let server: ServerCore
    let loop: EventLoop
    /// From when on the next answer is the last one (H84).
    let agesAt: Int64

    var phase = Phase.head
    /// Octets that are still to be thrown away, while draining or lingering.
    var left: Int64 = 0
    /// How many heads were read.
    var requestCount = 0
    /// The head in progress, when it did not arrive whole.
    var partial: PartialHead?
    /// Octets that came and are not used yet, from `inputStart` on; empty when all are used.
    var input: [UInt8] = []
    var inputStart = 0
    var output = SendQueue()
    /// TLS between the socket and everything else; gone when our side is shut.
    var secure: SecureSocket?

    /// The socket may hold octets that were not read yet: the kernel tells of them once.
    var canRead = false
    /// How many octets may still be read in this turn (H184).
    var readLeft = 0
    /// The peer's end has been announced: the next empty read is it.
    var endIsNear = false
    /// The peer will send nothing more.
    var inputHasEnded = false
    /// The loop reads from this connection in its next turn.
    var isResumed = false
    /// The next answer is the last one, or no answer will follow at all.
    var mustClose = false
    /// Something was written to `output`, or its end is to be noticed.
    var wantsFlush = false
    /// The loop flushes this connection at the end of its turn.
    var isQueued = false
    /// A thread of the pump uses the descriptor.
    var isPumping = false
    /// How many blocks of a file may still be read on the loop.
    var blocksLeft = Connection.blocksPerTurn
    /// The socket took octets again while the pump was still at it.
    var canWriteAgain = false

    /// When what the phase waits for is overdue, in the loop's milliseconds.
    private(set) var due: Int64 = .max
    /// Set while the socket takes no more of the output (H178).
    private var stall: Stall?
    /// When the wheel asks for the deadline next.
    var wheelTime: Int64 = .max

    init(
        descriptor: Int32, generation: UInt32, peer: PeerAddress, client: AddressCounts.Client?,
        isTrusted: Bool, server: ServerCore, loop: EventLoop, secure: SecureSocket? = nil
    ) {
        self.descriptor = descriptor
        self.generation = generation
        self.peer = peer
        self.client = client
        self.isTrusted = isTrusted
        self.server = server
        self.loop = loop
        self.secure = secure
        // Between nine and eleven tenths of the age, evenly over the connections in their order.
        let part = Int64((generation &* 0x9E37_79B9) >> 16) * 200 / 0xFFFF + 900
        agesAt = loop.now + loop.configuration.maximumAge * part / 1000
    }

    /// Begins to wait for the first request (H174: its head is due from now on), or for a hello (H168).
    func open() {
        loop.add(self)
        if secure != nil { loop.handshakeBegins(self) }
        let patience = secure == nil ? nil : configuration.tls?.handshakeTimeout
        setDue(loop.now + (patience ?? configuration.headerTimeout))
    }

    /// Ends a connection for which there is no room, before anything of it is read (H181).
    func turnAway() {
        refuse(
            Refusal(.serviceUnavailable, "H181", "There are as many connections as allowed."))
        flush()
    }

    var configuration: ServerConfiguration { loop.configuration }

    var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    // MARK: Deadlines

    /// When ``expire()`` is to be called.
    var deadline: Int64 { min(due, stall?.due ?? .max) }

    /// Says until when the phase may last; `.max` for as long as it likes.
    func setDue(_ time: Int64) {
        due = time
        if time < wheelTime { loop.schedule(self) }
    }

    /// The socket takes no more: from now on the peer's time runs.
    ///
    /// - Parameter sent: What it took before it was full.
    func outputStalled(sent: Int64) {
        if let stall {
            stall.sent += sent
            if sent > 0 { stall.look(unsent: Socket.unsentCount(descriptor), at: loop.now) }
        } else {
            stall = Stall(
                unsent: Socket.unsentCount(descriptor), at: loop.now, configuration)
        }
        if deadline < wheelTime { loop.schedule(self) }
    }

    /// Whether the peer's time is up, what it took since the last look included.
    func peerIsStuck() -> Bool {
        guard let stall, stall.due <= loop.now else { return false }
        stall.look(unsent: Socket.unsentCount(descriptor), at: loop.now)
        if stall.due <= loop.now { return true }
        if deadline < wheelTime { loop.schedule(self) }
        return false
    }

    /// Everything has left.
    func clearStall() { stall = nil }
}
