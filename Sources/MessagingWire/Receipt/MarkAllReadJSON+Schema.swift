public import JSON

extension MarkAllReadJSON {
    /// What ``read(_:)`` reads; `null` or nothing is everything.
    public static let schema = JSONSchema.named(
        "ReadUpTo", .object([.optional("position", position)]))

    /// What ``answer(_:)`` writes.
    public static let answerSchema = JSONSchema.named(
        "ReadingReached", .object([.required("position", position)]))

    private static let position = JSONSchema.integer(0 ... .max).orNull
}
