/// Why a message is refused by the HTTP layer itself: the status, the rule that failed, its reason.
public struct Refusal: Error, Sendable {
    /// The status of the answer.
    public let status: Status
    // Literals cost nothing to copy or to let go, and every parsed head carries room for a refusal.
    private let ruleText: StaticString
    private let reasonText: StaticString

    /// Makes a refusal.
    public init(_ status: Status, _ rule: StaticString, _ reason: StaticString) {
        self.status = status
        ruleText = rule
        reasonText = reason
    }

    /// The number of the rule in the HTTP specification, such as `H22`; for the log.
    public var rule: String { ruleText.description }

    /// One sentence for the caller, without anything the caller sent.
    public var reason: String { reasonText.description }
}

extension Refusal: Equatable {
    /// The same when status, rule and reason are.
    public static func == (left: Refusal, right: Refusal) -> Bool {
        left.status == right.status && left.rule == right.rule && left.reason == right.reason
    }
}
