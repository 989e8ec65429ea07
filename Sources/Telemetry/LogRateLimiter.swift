import SystemSupport

/// Limits how often a kind of log line is written; the rest is counted (H209).
public final class LogRateLimiter: Sendable {
    private let lines: Int
    private let period: Int64
    private let state = Locked(State())

    private struct State {
        var start: Int64?
        var written = 0
        var suppressed = 0
        var suppressedInAll = 0
    }

    /// What to do with a line.
    public enum Decision: Equatable, Sendable {
        /// Write it. In the period that ended, `suppressed` lines were not written.
        case write(suppressed: Int)
        /// Only count it.
        case suppress
    }

    /// Allows `lines` per period, which is in milliseconds.
    public init(lines: Int, each period: Int64 = 1000) {
        self.lines = lines
        self.period = period
    }

    /// The number of lines suppressed so far.
    public var suppressedCount: Int { state.withLock { state in state.suppressedInAll } }

    /// Decides about a line.
    ///
    /// - Parameter now: Any clock in milliseconds; a step back starts a new period.
    public func decide(now: Int64) -> Decision {
        state.withLock { state in
            var ended = 0
            // A clock set back by a day must not suppress a day of lines.
            if state.start.map({ start in now - start >= period || now < start }) ?? true {
                ended = state.suppressed
                state = State(start: now, suppressedInAll: state.suppressedInAll)
            }
            guard state.written < lines else {
                state.suppressed += 1
                state.suppressedInAll += 1
                return .suppress
            }
            state.written += 1
            return .write(suppressed: ended)
        }
    }
}
