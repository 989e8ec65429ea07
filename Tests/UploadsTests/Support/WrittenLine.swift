import HTTP
import Locking

/// Takes what a task writes as a content, at once.
final class WrittenLine: Line {
    private let state = Locked((octets: [UInt8](), waiting: CheckedContinuation<Bool, Never>?.none))

    /// Everything a content writes; `nil` when it broke off.
    static func read(_ handler: any LineHandler) async -> [UInt8]? {
        let line = WrittenLine()
        let isWhole = await withCheckedContinuation { continuation in
            line.state.withLock { $0.waiting = continuation }
            handler.opened(line)
        }
        handler.closed()
        return isWhole ? line.state.withLock { $0.octets } : nil
    }

    var milliseconds: Int64 { 0 }
    var queuedCount: Int64 { 0 }
    var isFull: Bool { false }
    var isReading: Bool {
        get { true }
        set {}
    }
    func send(_ octets: [UInt8]) { state.withLock { $0.octets += octets } }
    func setDeadline(_ time: Int64) {}
    func finish() { end(true) }
    func abort() { end(false) }
    func perform(_ work: @escaping @Sendable () -> Void) { work() }

    private func end(_ isWhole: Bool) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: isWhole)
    }
}
