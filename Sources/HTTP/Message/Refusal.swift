/// Why a message is refused by the HTTP layer itself: the status, the rule that failed, its reason.
public struct Refusal: Error, Sendable, Equatable {
    /// The status of the answer.
    public let status: Status
    /// The number of the rule in the HTTP specification, such as `H22`; for the log.
    public let rule: String
    /// One sentence for the caller, without anything the caller sent.
    public let reason: String

    /// Makes a refusal.
    public init(_ status: Status, _ rule: String, _ reason: String) {
        self.status = status
        self.rule = rule
        self.reason = reason
    }
}
