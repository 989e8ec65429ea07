import Bytes
public import JSON
public import Messaging

/// An export as answers show it (platform-api §5.12).
public enum ExportJSON {
    /// Writes the object; values that are not known yet or no longer exist are `null`.
    ///
    /// - Parameter sign: Signs the download URL; called only if there is an archive to download.
    public static func write(
        _ export: Export, _ links: LinkBuilder,
        sign: (Export.ID) -> ContentJSON.SignedLink, into writer: inout JSONWriter
    ) {
        let archive = export.archive
        let link = archive != nil && export.expiredAt == nil ? sign(export.id) : nil
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(export.id, in: .exports))
            writer.member("type", type(of: export))
            writer.member("status", export.status.rawValue)
            writer.member("created_at", TimestampJSON.text(export.createdAt))
            writer.member("started_at", export.startedAt.map(TimestampJSON.text))
            writer.member("completed_at", export.completedAt.map(TimestampJSON.text))
            writer.member("expired_at", export.expiredAt.map(TimestampJSON.text))
            writer.member("public_key", Base64.encode(export.publicKey))
            writer.member("encrypted_aes_key", archive.map { Base64.encode($0.encryptedKey) })
            writer.member("aes_iv", archive.map { Base64.encode($0.initialVector) })
            writer.member("download_url", link?.url)
            writer.member(
                "download_url_expires_at", link.map { TimestampJSON.text($0.expiresAt) })
            writer.member("status_url", links.status(of: export.id))
        }
    }

    private static func type(of export: Export) -> String {
        switch export.scope {
        case .historical: "historical"
        case .scheduled: "scheduled"
        }
    }
}

/// Body and answer of `…/export_security` (platform-api §5.12).
public enum ExportKeyJSON {
    /// Reads the key as text; whether it is an RSA key is checked by the caller.
    public static func read(_ body: JSONValue) throws(Rejection) -> String {
        guard let value = body.present("public_key") else { throw .missing("public_key") }
        guard let pem = value.string, pem.isStorable else {
            throw .invalid("public_key", .publicKey)
        }
        return pem
    }

    /// Writes the object.
    public static func write(_ key: ExportKey, into writer: inout JSONWriter) {
        writer.object { writer in writer.member("public_key", key.pem) }
    }
}

/// Body and answer of `…/export_schedule` (platform-api §5.12).
public enum ExportScheduleJSON {
    /// Reads `interval`, then `events`: names of version 1.0, at least one for daily exports.
    public static func read(
        _ body: JSONValue
    ) throws(Rejection) -> (interval: ExportSchedule.Interval, topics: [WebhookTopic]) {
        guard let value = body.present("interval") else { throw .missing("interval") }
        guard let interval = value.string.flatMap(ExportSchedule.Interval.init) else {
            throw .invalid("interval", .exportInterval)
        }
        guard let events = body.present("events") else {
            guard interval == .disabled else { throw .missing("events") }
            return (interval, [])
        }
        guard events.kind == .array, interval == .disabled || events.count > 0 else {
            throw .invalid("events", .exportEvents)
        }
        var topics: [WebhookTopic] = []
        for event in events.elements {
            guard let name = event.string else { throw .invalid("events", .exportEvents) }
            guard let topic = WebhookTopicJSON.read(name, .v1_0) else {
                let known = WebhookTopicJSON.names(.v1_0).joined(separator: ", ")
                throw .invalid("events", .exportEventName, .init(path: known, text: name))
            }
            if !topics.contains(topic) { topics.append(topic) }
        }
        return (interval, topics)
    }

    /// Writes the object; times and an id that are not known yet are `null`.
    public static func write(_ schedule: ExportSchedule, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("interval", schedule.interval.rawValue)
            writer.key("events")
            writer.array { writer in
                for topic in schedule.topics { writer.string(WebhookTopicJSON.text(topic, .v1_0)) }
            }
            writer.member("last_export_at", schedule.lastAt.map(TimestampJSON.text))
            writer.member(
                "last_export_id", schedule.last.map { IdentifierJSON.text($0, in: .exports) })
            writer.member("next_export_at", schedule.nextAt.map(TimestampJSON.text))
        }
    }
}

extension ExportJSON {
    /// The schema of an export in every state.
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
            .required(
                "public_key",
                .string.withDescription(
                    "The public key that the archive is encrypted with: DER in base64.")
            ),
            .required("encrypted_aes_key", JSONSchema.string.orNull),
            .required("aes_iv", JSONSchema.string.orNull),
            .required("download_url", JSONSchema.url.orNull),
            .required("download_url_expires_at", JSONSchema.time.orNull),
            .required("status_url", .url),
        ]))
}

extension ExportKeyJSON {
    /// The schema of the key in requests and answers.
    public static let schema = JSONSchema.named(
        "ExportSecurity",
        .object([
            .required(
                "public_key",
                .string.withDescription("An RSA public key of at least 2048 bits, in PEM."))
        ]))
}

extension ExportScheduleJSON {
    private static let names = WebhookTopicJSON.names(.v1_0)
    private static let intervals = ExportSchedule.Interval.allCases.map(\.rawValue)

    /// The schema of a schedule in requests.
    public static let draftSchema = JSONSchema.named(
        "ExportScheduleDraft",
        .object([
            .required("interval", .choice(intervals)),
            .optional(
                "events",
                JSONSchema.array(of: .choice(names)).withDescription(
                    "At least one for daily exports.")),
        ]))

    /// The schema of a schedule in answers.
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
