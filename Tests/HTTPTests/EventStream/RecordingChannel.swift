import SystemSupport

@testable import HTTP

/// A channel that records what is sent, with a clock that the test advances.
final class RecordingChannel: ByteChannel {
    struct State {
        var milliseconds: Int64 = 1_000_000
        var sent: [[UInt8]] = []
        var isFull = false
        var isReading = true
        var deadline = Int64.max
        var isFinished = false
        var isAborted = false
        var work: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    var milliseconds: Int64 {
        get { state.withLock { state in state.milliseconds } }
        set { state.withLock { state in state.milliseconds = newValue } }
    }
    var isFull: Bool {
        get { state.withLock { state in state.isFull } }
        set { state.withLock { state in state.isFull = newValue } }
    }
    var isReading: Bool {
        get { state.withLock { state in state.isReading } }
        set { state.withLock { state in state.isReading = newValue } }
    }
    var queuedCount: Int64 { isFull ? 1 << 20 : 0 }
    var deadline: Int64 { state.withLock { state in state.deadline } }
    var isFinished: Bool { state.withLock { state in state.isFinished } }
    var isAborted: Bool { state.withLock { state in state.isAborted } }
    /// Every buffer that was sent, in order.
    var buffers: [[UInt8]] { state.withLock { state in state.sent } }
    /// All bytes that were sent.
    var bytes: [UInt8] { buffers.flatMap { buffer in buffer } }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func send(_ bytes: [UInt8]) {
        state.withLock { state in
            if !state.isFinished, !state.isAborted { state.sent.append(bytes) }
        }
    }
    func setDeadline(_ time: Int64) { state.withLock { state in state.deadline = time } }
    func finish() { state.withLock { state in state.isFinished = true } }
    func abort() { state.withLock { state in state.isAborted = true } }
    func perform(_ work: @escaping @Sendable () -> Void) {
        state.withLock { state in state.work.append(work) }
    }

    /// Discards the recorded buffers.
    func clear() { state.withLock { state in state.sent = [] } }

    /// Runs scheduled work until there is none.
    func turn() {
        while true {
            let work = state.withLock { state in
                defer { state.work = [] }
                return state.work
            }
            if work.isEmpty { return }
            for piece in work { piece() }
        }
    }

    /// Advances the clock and calls the handler at every deadline.
    func pass(_ milliseconds: Int64, _ handler: any ByteChannelHandler) {
        let end = self.milliseconds + milliseconds
        while deadline <= end {
            self.milliseconds = max(self.milliseconds, deadline)
            setDeadline(.max)
            handler.deadlinePassed()
            turn()
        }
        self.milliseconds = end
    }
}
