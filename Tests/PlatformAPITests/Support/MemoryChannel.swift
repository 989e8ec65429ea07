import HTTP
import SystemSupport

/// Collects a content that is written in pieces, without back pressure.
final class MemoryChannel: ByteChannel {
    private struct State {
        var bytes: [UInt8] = []
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

    func send(_ bytes: [UInt8]) { state.withLock { state in state.bytes += bytes } }
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

    /// All bytes that a handler writes; `nil` when it aborts.
    func take(from handler: any ByteChannelHandler) async -> [UInt8]? {
        handler.opened(self)
        let isWhole = await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.isWhole == nil { state.waiting = continuation }
                return state.isWhole
            }
            if let known { continuation.resume(returning: known) }
        }
        handler.closed()
        return isWhole ? state.withLock { state in state.bytes } : nil
    }
}

extension Response {
    /// All bytes of the content; `nil` without content, for an aborted one, and for an event stream,
    /// which never ends.
    var wholeContent: [UInt8]? {
        get async {
            switch content {
            case .bytes, .pieces: return content.joinedBytes
            case .stream(let handler, _) where !(handler is EventStream):
                return await MemoryChannel().take(from: handler)
            default: return nil
            }
        }
    }
}

/// A request body in memory.
actor MemoryBody: RequestBody {
    nonisolated let length: Int64?
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        length = Int64(bytes.count)
        rest = bytes[...]
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        buffer.removeAll()
        let taken = rest.prefix(buffer.capacity)
        _ = buffer.append(Array(taken).span)
        rest = rest.dropFirst(taken.count)
    }

    nonisolated func interrupt() {}
}
