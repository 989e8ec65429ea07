import Testing

/// One message of a table, with the rule that decides about it.
struct HeadCase: Sendable, CustomTestStringConvertible {
    let rule: String
    let message: String
    let status: Int

    init(_ rule: String, _ message: String, _ status: Int = 400) {
        self.rule = rule
        self.message = message
        self.status = status
    }

    var testDescription: String { "\(rule): \(message.prefix(120).debugDescription)" }
}
