import JSON
import Messaging

/// When a message shall be sent (platform-api §5.2.1, Schedule).
enum ScheduleJSON {
    /// Reads the member `schedule`, seconds with fractions; `nil` when there is none.
    static func read(_ body: JSONValue) throws(Rejection) -> Schedule? {
        guard let value = body.present("schedule") else { return nil }
        guard value.kind == .object else { throw .invalid("schedule", .scheduleObject) }
        guard let delay = try milliseconds(value, "delay_in_seconds", .scheduleDelay) else {
            throw .missing("schedule.delay_in_seconds")
        }
        // The delay is judged before anybody looks for the typing (ruling 1).
        _ = try Schedule(delay: delay)
        // 0 is no time of typing at all (ruling 23).
        let typing =
            value.present("typing_indicator_in_seconds")?.double == 0
            ? nil : try milliseconds(value, "typing_indicator_in_seconds", .scheduleTyping)
        return try Schedule(delay: delay, typing: typing)
    }

    /// Rounded to the nearest millisecond, but never into the range.
    private static func milliseconds(
        _ schedule: JSONValue, _ name: String, _ rule: Rule
    ) throws(Rejection) -> Int64? {
        guard let value = schedule.present(name) else { return nil }
        guard let seconds = value.double, seconds >= 1, seconds <= 300 else {
            throw .invalid("schedule.\(name)", rule)
        }
        return Int64((seconds * 1000).rounded())
    }
}
