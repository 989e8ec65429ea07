import JSON

extension ScheduleJSON {
    /// What ``read(_:)`` reads.
    static let schema = JSONSchema.named(
        "Schedule",
        .object([
            .required("delay_in_seconds", .number(1...300)),
            .optional(
                "typing_indicator_in_seconds",
                JSONSchema.number(0...300).saying("0 for none, else 1 up to the delay.")),
        ]))
}
