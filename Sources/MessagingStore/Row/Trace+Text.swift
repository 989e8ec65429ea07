import Messaging

// How a trace stands in a column, so that a person can look for one.
extension Trace {
    /// As in `0af7651916cd43dd8448eb211c80319c-01`.
    var text: String { "\(id)-0\(flags)" }

    /// Reads it; `nil` for what nobody wrote.
    init?(_ text: String) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, parts[0].utf8.count == 32, let flags = UInt8(parts[1]) else {
            return nil
        }
        self.init(id: String(parts[0]), flags: flags)
    }
}
