public import Dispatch
import Glibc
import SystemSupport

/// Writes log lines from any thread on its own thread.
///
/// A caller only takes a short lock and copies its line. While the output blocks, lines wait up to
/// the capacity; further ones are dropped and counted, and the next line written reports how many
/// (H209).
public final class LogSink: Sendable {
    /// Bytes that may wait; 1 MiB holds about 4,000 requests.
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

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - capacity: Bytes that may wait while the output blocks.
    ///   - gathering: How long lines are collected, so that a busy server writes many lines in one
    ///     system call.
    ///   - clock: Milliseconds since 1970 UTC, for the line about dropped lines.
    ///   - output: Writes all of the bytes; may block; returns whether it succeeded.
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

    /// The number of lines dropped so far.
    public var droppedLines: Int { state.withLock { state in state.droppedInAll } }

    /// Adds a line with its line feed; never blocks.
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

    /// Writes the waiting lines now and waits for that.
    ///
    /// - Returns: Whether they were written in time; a blocked output must not keep the process
    ///   alive.
    @discardableResult
    public func flush(within timeout: DispatchTimeInterval = .seconds(1)) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async {
            self.drain()
            done.signal()
        }
        return done.wait(timeout: .now() + timeout) == .success
    }

    private func drain() {
        let (lines, dropped) = state.withLock { state in
            defer { state = State(droppedInAll: state.droppedInAll) }
            return (state.waiting, state.dropped)
        }
        if dropped > 0 { _ = output(notice(of: dropped).bytes) }
        // Errors are ignored: a broken output must not fail requests.
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
    /// Creates a sink for a file descriptor, such as 2, standard error.
    public convenience init(descriptor: Int32, capacity: Int = LogSink.defaultCapacity) {
        self.init(capacity: capacity) { lines in Self.write(lines, to: descriptor) }
    }

    /// Writes all bytes; waits if the descriptor is non-blocking.
    private static func write(_ lines: [UInt8], to descriptor: Int32) -> Bool {
        var rest = lines[...]
        while !rest.isEmpty {
            // Safe: the pointer is only used during the call, and the count is the slice's.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                // The structure lives through the call.
                unsafe poll(&wait, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// The wall clock in milliseconds since 1970 UTC.
@Sendable public func systemMilliseconds() -> Int64 {
    var time = timespec()
    // Cannot fail: the clock exists and the address is valid during the call.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
