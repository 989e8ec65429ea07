import Glibc
import SystemSupport

/// A progress bar on the terminal; silent if standard error is no terminal.
final class ProgressBar: Sendable {
    private let unit: Unit
    private let isTerminal = isatty(2) == 1
    private let state: Locked<State>

    /// The unit of progress.
    enum Unit {
        case bytes, rows

        fileprivate func text(_ count: Int64) -> String {
            self == .rows ? "\(count)" : ProgressBar.megabytes(count)
        }

        fileprivate var name: String { self == .rows ? "rows" : "MB" }
    }

    private struct State {
        let beginning = ContinuousClock.now
        /// The total.
        var total: Int64
        var first: Int64?
        var drawn: ContinuousClock.Instant?
        var isOpen = false
    }

    private static let width = 30

    /// - Parameter total: The total, as far as it is known.
    init(of total: Int64 = 0, in unit: Unit = .bytes) {
        self.unit = unit
        state = Locked(State(total: total))
    }

    /// Draws the bar, at most ten times a second.
    ///
    /// - Parameter total: The total, if it is better known by now.
    func show(_ count: Int64, of total: Int64? = nil) {
        guard isTerminal else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            if state.first == nil { state.first = count }
            if let total { state.total = total }
            if let drawn = state.drawn, count < state.total, now - drawn < .milliseconds(100) {
                return
            }
            state.drawn = now
            state.isOpen = true
            let line = line(
                count, of: state.total, since: state.first ?? 0, in: now - state.beginning)
            // `ESC [ K` clears the rest of the line.
            Command.printError("\r\(line)\u{1B}[K", end: "")
        }
    }

    /// Ends the line, so that later output starts on its own.
    func end() {
        state.withLock { state in
            if state.isOpen { Command.printError("") }
            state.isOpen = false
        }
    }

    private func line(
        _ count: Int64, of total: Int64, since first: Int64, in time: Duration
    ) -> String {
        let share = total > 0 ? min(1, Double(count) / Double(total)) : 1
        let full = Int(share * Double(Self.width))
        let bar =
            String(repeating: "#", count: full)
            + String(repeating: ".", count: Self.width - full)
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let rate = seconds > 0.1 ? unit.text(Int64(Double(count - first) / seconds)) : "–"
        return "[\(bar)] \(Int(share * 100)) %  "
            + "\(unit.text(count)) of \(unit.text(total)) \(unit.name)  \(rate) \(unit.name)/s"
    }

    /// With one decimal.
    private static func megabytes(_ bytes: Int64) -> String {
        let tenths = max(0, bytes) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
