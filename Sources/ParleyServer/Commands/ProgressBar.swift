import Glibc
import Locking

/// How far something is, drawn on the terminal again and again; silent where nobody looks.
final class ProgressBar: Sendable {
    private let total: Int64
    private let isSeen = isatty(2) == 1
    private let state: Locked<State>

    private struct State {
        let beginning = ContinuousClock.now
        var first: Int64?
        var drawn: ContinuousClock.Instant?
        var isOpen = false
    }

    private static let width = 30

    /// - Parameter total: Octets of all of it.
    init(of total: Int64) {
        self.total = total
        state = Locked(State())
    }

    /// Draws it, ten times a second at most.
    func show(_ octets: Int64) {
        guard isSeen else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            if state.first == nil { state.first = octets }
            if let drawn = state.drawn, octets < total, now - drawn < .milliseconds(100) { return }
            state.drawn = now
            state.isOpen = true
            let line = line(octets, since: state.first ?? 0, in: now - state.beginning)
            // The rest of what stood there before is taken away.
            Command.tell("\r\(line)\u{1B}[K", end: "")
        }
    }

    /// Ends the line, so that what follows has one of its own.
    func end() {
        state.withLock { state in
            if state.isOpen { Command.tell("") }
            state.isOpen = false
        }
    }

    private func line(_ octets: Int64, since first: Int64, in time: Duration) -> String {
        let share = total > 0 ? Double(octets) / Double(total) : 1
        let full = Int(share * Double(Self.width))
        let bar =
            String(repeating: "#", count: full)
            + String(repeating: ".", count: Self.width - full)
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let rate = seconds > 0.1 ? Self.megabytes(Int64(Double(octets - first) / seconds)) : "–"
        return "[\(bar)] \(Int(share * 100)) %  "
            + "\(Self.megabytes(octets)) of \(Self.megabytes(total)) MB  \(rate) MB/s"
    }

    /// With one digit behind the point.
    private static func megabytes(_ octets: Int64) -> String {
        let tenths = max(0, octets) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
