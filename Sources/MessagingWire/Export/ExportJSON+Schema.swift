public import JSON
import Messaging

extension ExportJSON {
    /// An export, in every state.
    public static let schema = JSONSchema.named(
        "Export",
        .object([
            .required("id", .identifier(.exports)),
            .required("type", .choice(["historical", "scheduled"])),
            .required("status", .choice(["pending", "executing", "completed"])),
            .required("created_at", .time),
            .required("started_at", JSONSchema.time.orNull),
            .required("completed_at", JSONSchema.time.orNull),
            .required("expired_at", JSONSchema.time.orNull),
            .required("public_key", .string.saying("The key it is sealed for: DER in base64.")),
            .required("encrypted_aes_key", JSONSchema.string.orNull),
            .required("aes_iv", JSONSchema.string.orNull),
            .required("download_url", JSONSchema.url.orNull),
            .required("download_url_expires_at", JSONSchema.time.orNull),
            .required("status_url", .url),
        ]))
}

extension ExportKeyJSON {
    /// The key, as it is sent and shown.
    public static let schema = JSONSchema.named(
        "ExportSecurity",
        .object([
            .required(
                "public_key", .string.saying("An RSA key of 2048 bits or more, in PEM."))
        ]))
}

extension ExportScheduleJSON {
    private static let names = TopicJSON.names(.v1_0)
    private static let intervals = ExportSchedule.Interval.allCases.map(\.rawValue)

    /// A schedule as it is sent.
    public static let draftSchema = JSONSchema.named(
        "ExportScheduleDraft",
        .object([
            .required("interval", .choice(intervals)),
            .optional(
                "events",
                JSONSchema.array(of: .choice(names)).saying("For daily exports one at least.")),
        ]))

    /// A schedule as it is shown.
    public static let schema = JSONSchema.named(
        "ExportSchedule",
        .object([
            .required("interval", .choice(intervals)),
            .required("events", .array(of: .choice(names))),
            .required("last_export_at", JSONSchema.time.orNull),
            .required("last_export_id", JSONSchema.identifier(.exports).orNull),
            .required("next_export_at", JSONSchema.time.orNull),
        ]))
}
