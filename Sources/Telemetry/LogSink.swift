public import Dispatch
import Glibc
import SystemSupport

/// Takes finished lines from any thread and writes them from one of its own.
///
/// Whoever hands in a line pays for a short lock and a copy, never for the descriptor: when that
/// blocks, lines wait up to the capacity and are then dropped and counted, and the first line written
/// afterwards says how many (H209).
public final class LogSink: Sendable {
    /// Bytes that may wait; 1 MiB is some 4,000 requests.
    public static let defaultCapacity = 1 << 20

    private let capacity: Int
    private let gathering: DispatchTimeInterval
    private let output: @Sendable ([UInt8]) -> Bool
    private let clock: @Sendable () -> Int64
    private let state = Locked(State())
    private let queue = DispatchQueue(label: "parley.log")

    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        var droppedInAll = 0
        var isScheduled = false
    }

    /// Makes a sink.
    ///
    /// - Parameters:
    ///   - capacity: Bytes that may wait while the output is busy.
    ///   - gathering: How long lines are collected, so that a busy server makes one system call for
    ///     many of them.
    ///   - clock: Milliseconds since 1970 UTC, for the line about dropped lines.
    ///   - output: Writes all of the bytes, may block, and says whether it could.
    public init(
        capacity: Int = LogSink.defaultCapacity,
        gathering: DispatchTimeInterval = .milliseconds(20),
        clock: @escaping @Sendable () -> Int64 = systemMilliseconds,
        output: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        self.capacity = capacity
        self.gathering = gathering
        self.clock = clock
        self.output = output
    }

    /// How many lines were dropped so far.
    public var droppedLines: Int { state.withLock { state in state.droppedInAll } }

    /// Hands a line over, with its line feed; never blocks.
    public func write(_ line: LogLine) {
        let isFirst = state.withLock { state -> Bool in
            guard state.waiting.count + line.bytes.count <= capacity else {
                state.dropped += 1
                state.droppedInAll += 1
                return false
            }
            state.waiting.append(contentsOf: line.bytes)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { queue.asyncAfter(deadline: .now() + gathering) { self.drain() } }
    }

    /// Writes what waits, without gathering, and waits for that.
    ///
    /// - Returns: Whether it was written in time; a blocked output must not keep a process alive.
    @discardableResult
    public func flush(within patience: DispatchTimeInterval = .seconds(1)) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async {
            self.drain()
            done.signal()
        }
        return done.wait(timeout: .now() + patience) == .success
    }

    private func drain() {
        let (lines, dropped) = state.withLock { state in
            defer { state = State(droppedInAll: state.droppedInAll) }
            return (state.waiting, state.dropped)
        }
        if dropped > 0 { _ = output(notice(of: dropped).bytes) }
        // A descriptor that refuses lines for good is no reason to fail a request.
        if !lines.isEmpty { _ = output(lines) }
    }

    private func notice(of dropped: Int) -> LogLine {
        var line = LogLine(at: clock(), level: "warning")
        line.text("message", "log lines dropped: the output was blocked")
        line.number("dropped", Int64(dropped))
        line.end()
        return line
    }
}

extension LogSink {
    /// A sink that writes to a descriptor, such as 2, the standard error.
    public convenience init(descriptor: Int32, capacity: Int = LogSink.defaultCapacity) {
        self.init(capacity: capacity) { lines in Self.write(lines, to: descriptor) }
    }

    /// Writes everything, waiting where the descriptor does not block by itself.
    private static func write(_ lines: [UInt8], to descriptor: Int32) -> Bool {
        var rest = lines[...]
        while !rest.isEmpty {
            // Holds because the pointer is only used during the call and the count is the slice's.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&wait, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// The wall clock, in milliseconds since 1970 UTC.
@Sendable public func systemMilliseconds() -> Int64 {
    var time = timespec()
    // Cannot fail: the clock exists and the address is valid during the call.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
