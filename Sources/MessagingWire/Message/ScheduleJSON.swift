import JSON
import Messaging

/// When a message shall be sent (platform-api §5.2.1, Schedule).
public struct ScheduleJSON: Equatable, Sendable {
    /// 1 to 300 seconds, fractions allowed.
    public let delayInSeconds: Double
    /// How long before sending the sender shows as typing; at most the delay.
    public let typingIndicatorInSeconds: Double?

    /// Reads the member `schedule`; `nil` when there is none.
    static func read(_ body: JSONValue) throws(Rejection) -> ScheduleJSON? {
        guard let value = body.present("schedule") else { return nil }
        guard value.kind == .object else { throw .invalid("schedule") }
        guard let delay = try seconds(value, "delay_in_seconds", upTo: 300) else {
            throw .missing("schedule.delay_in_seconds")
        }
        let typing = try seconds(value, "typing_indicator_in_seconds", upTo: delay)
        return ScheduleJSON(delayInSeconds: delay, typingIndicatorInSeconds: typing)
    }

    private static func seconds(
        _ schedule: JSONValue, _ name: String, upTo limit: Double
    ) throws(Rejection) -> Double? {
        guard let value = schedule.present(name) else { return nil }
        guard let seconds = value.double, seconds >= 1, seconds <= limit else {
            throw .invalid("schedule.\(name)")
        }
        return seconds
    }
}
