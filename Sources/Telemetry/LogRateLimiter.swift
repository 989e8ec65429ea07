import SystemSupport

/// Bounds how often a kind of line is written: the rest is counted and told later (H209).
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

    /// What becomes of a line.
    public enum Decision: Equatable, Sendable {
        /// It is written. `suppressed` others were not, in the period that has just ended.
        case write(suppressed: Int)
        /// It is counted only.
        case suppress
    }

    /// Allows so many lines in each period, which is in milliseconds.
    public init(lines: Int, each period: Int64 = 1000) {
        self.lines = lines
        self.period = period
    }

    /// How many lines were suppressed so far.
    public var suppressedCount: Int { state.withLock { state in state.suppressedInAll } }

    /// Judges a line.
    ///
    /// - Parameter now: Any clock in milliseconds; when it goes back, a period begins.
    public func decide(now: Int64) -> Decision {
        state.withLock { state in
            var ended = 0
            // A clock set back by a day must not silence a day of lines.
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
