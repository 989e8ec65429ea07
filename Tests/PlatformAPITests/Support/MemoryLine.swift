import HTTP
import Locking

/// The other end of a content that is written bit by bit: it takes everything at once.
final class MemoryLine: Line {
    private struct State {
        var octets: [UInt8] = []
        var isWhole: Bool?
        var waiting: CheckedContinuation<Bool, Never>?
    }

    private let state = Locked(State())

    let milliseconds: Int64 = 0
    let queuedCount: Int64 = 0
    let isFull = false
    var isReading: Bool {
        get { true }
        set {}
    }

    func send(_ octets: [UInt8]) { state.withLock { state in state.octets += octets } }
    func setDeadline(_ time: Int64) {}
    func finish() { end(true) }
    func abort() { end(false) }
    func perform(_ work: @escaping @Sendable () -> Void) { work() }

    private func end(_ isWhole: Bool) {
        state.withLock { state in
            if state.isWhole == nil { state.isWhole = isWhole }
            defer { state.waiting = nil }
            return state.waiting
        }?.resume(returning: isWhole)
    }

    /// Everything a handler writes; `nil` when it breaks off.
    func take(from handler: any LineHandler) async -> [UInt8]? {
        handler.opened(self)
        let isWhole = await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.isWhole == nil { state.waiting = continuation }
                return state.isWhole
            }
            if let known { continuation.resume(returning: known) }
        }
        handler.closed()
        return isWhole ? state.withLock { state in state.octets } : nil
    }
}

extension Response {
    /// All octets of the content; `nil` for none, for one that broke off, and for a stream of events,
    /// which never ends.
    var wholeContent: [UInt8]? {
        get async {
            switch content {
            case .bytes(let octets): return octets
            case .stream(let handler, _) where !(handler is EventStream):
                return await MemoryLine().take(from: handler)
            default: return nil
            }
        }
    }
}
