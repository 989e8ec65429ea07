/// When a message shall be sent (platform-api §5.2.1).
public struct Schedule: Equatable, Sendable {
    /// The shortest and the longest delay, and time of typing, in milliseconds.
    public static let range: ClosedRange<Int64> = 1000...300_000

    /// How long to wait before sending, in milliseconds.
    public let delay: Int64
    /// How long before sending the sender shows as typing, in milliseconds; `nil` for not at all.
    public let typing: Int64?

    /// - Throws: `invalid` with the member out of its range: 1 to 300 s, typing also at most the
    ///   delay.
    public init(delay: Int64, typing: Int64? = nil) throws(Rejection) {
        guard Self.range.contains(delay) else {
            throw .invalid("schedule.delay_in_seconds", .scheduleDelay)
        }
        guard typing.map({ (Self.range.lowerBound...delay).contains($0) }) ?? true else {
            throw .invalid("schedule.typing_indicator_in_seconds", .scheduleTyping)
        }
        self.delay = delay
        self.typing = typing
    }
}
