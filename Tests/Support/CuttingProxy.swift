internal import Dispatch
internal import Glibc
internal import SystemSupport

/// A TCP proxy between a client and a server on this machine that disturbs what it forwards.
public final class CuttingProxy: Sendable {
    private let server: ScriptedServer
    private let shared: Shared

    /// Starts listening.
    ///
    /// - Parameter port: The port of the server; it can be set later.
    public init(to port: UInt16 = 0) throws {
        let shared = Shared()
        self.shared = shared
        shared.state.withLock { state in state.target = port }
        server = try ScriptedServer { connection in shared.forward(connection.descriptor) }
    }

    deinit { shared.stop() }

    /// The port at which it listens.
    public var port: UInt16 { server.port }

    /// Sets the port of the server, for connections from now on.
    public func setTarget(_ port: UInt16) {
        shared.state.withLock { state in state.target = port }
    }

    /// The number of bytes that were forwarded so far, in both directions.
    public var forwarded: Int { shared.state.withLock { state in state.forwarded } }

    /// Cuts all connections.
    public func cut() { shared.cut() }

    /// Cuts all connections whenever a number of bytes was forwarded, a number of times.
    public func cut(every bytes: Int, times: Int) {
        shared.state.withLock { state in
            (state.step, state.cutsLeft) = (bytes, times)
            state.nextCut = state.forwarded + bytes
        }
    }

    /// The number of cuts that ``cut(every:times:)`` has still to make.
    public var cutsLeft: Int { shared.state.withLock { state in state.cutsLeft } }

    /// Whether answers are withheld: what the server sends is dropped.
    public func withholdAnswers(_ isOn: Bool) {
        shared.state.withLock { state in state.withholds = isOn }
    }

    /// Whether event streams are held back: what the server sends on a connection after a request for one is dropped.
    public func holdEventStreams(_ isOn: Bool) {
        shared.state.withLock { state in state.holdsStreams = isOn }
    }

    /// Limits how many bytes each direction of a connection forwards in a second; 0 for no limit.
    public func throttle(_ bytesPerSecond: Int) {
        shared.state.withLock { state in state.rate = bytesPerSecond }
    }

    /// Refuses connections, or accepts them again.
    public func refuse(_ isOn: Bool) {
        shared.state.withLock { state in state.refuses = isOn }
        if isOn { shared.cut() }
    }
}

/// What the threads of the connections share.
private final class Shared: Sendable {
    struct State {
        var target: UInt16 = 0
        var sockets: Set<Int32> = []
        var forwarded = 0
        var step = 0
        var nextCut = 0
        var cutsLeft = 0
        var withholds = false
        var holdsStreams = false
        /// The sockets of servers from which an event stream is held back.
        var heldStreams: Set<Int32> = []
        var rate = 0
        var refuses = false
    }

    let state = Locked(State())

    /// Forwards both directions of a connection until one of them ends.
    func forward(_ client: Int32) {
        let target = state.withLock { state in state.refuses ? 0 : state.target }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(server) }
        guard target != 0, connectToLoopback(server, port: target) else { return reset(client) }
        state.withLock { state in state.sockets.formUnion([client, server]) }
        let answers = DispatchGroup()
        DispatchQueue(label: "cutting-proxy").async(group: answers) {
            self.pump(from: server, to: client, isAnswer: true)
        }
        pump(from: client, to: server, isAnswer: false)
        answers.wait()
        state.withLock { state in
            state.sockets.subtract([client, server])
            state.heldStreams.remove(server)
        }
    }

    private func pump(from source: Int32, to target: Int32, isAnswer: Bool) {
        defer {
            shutdown(source, Int32(SHUT_RDWR))
            shutdown(target, Int32(SHUT_RDWR))
        }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            let (withholds, rate, isCut) = state.withLock { state -> (Bool, Int, Bool) in
                state.forwarded += count
                if state.holdsStreams, !isAnswer,
                    buffer.prefix(count).contains(Array("text/event-stream".utf8))
                {
                    state.heldStreams.insert(target)
                }
                guard state.cutsLeft > 0, state.forwarded >= state.nextCut else {
                    let isHeld = state.heldStreams.contains(source)
                    return (state.withholds || isHeld, state.rate, false)
                }
                state.cutsLeft -= 1
                state.nextCut = state.forwarded + state.step
                return (false, 0, true)
            }
            if isCut { return cut() }
            if isAnswer, withholds { continue }
            var sent = 0
            while sent < count {
                let part = buffer[sent..<count].withUnsafeBytes { bytes in
                    send(target, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
                guard part > 0 else { return }
                sent += part
            }
            if rate > 0 { usleep(useconds_t(count * 1_000_000 / rate)) }
        }
    }

    func cut() {
        state.withLock { state in
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    func stop() {
        state.withLock { state in state.refuses = true }
        cut()
    }

    private func reset(_ socket: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
