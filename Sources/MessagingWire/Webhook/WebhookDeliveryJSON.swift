public import JSON
public import Messaging

/// A delivery in responses (X6).
public enum WebhookDeliveryJSON {
    /// Writes the object of a webhook's delivery.
    ///
    /// - Parameters:
    ///   - includesAttempts: Whether `attempts` has each attempt instead of their number.
    ///   - body: The body of the request, with which the headers are written; `nil` for neither.
    ///
    /// While the webhook is not active, a pending delivery has no `next_attempt_at`; `webhook_status` shows why it
    /// waits.
    public static func write(
        _ delivery: WebhookDelivery, of webhook: Webhook, in application: Application.ID,
        includesAttempts: Bool = false, body: [UInt8]? = nil, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(delivery.id, of: webhook.id, in: application))
            writer.member("event_id", delivery.event.uuid)
            writer.member("event_type", delivery.type)
            writer.key("position")
            if let position = delivery.position {
                writer.integer(position.number)
            } else {
                writer.null()
            }
            writer.member(
                "conversation",
                delivery.conversation.map { IdentifierJSON.text($0, in: .conversations) })
            writer.member("state", delivery.state.rawValue)
            writer.member("webhook_status", WebhookJSON.text(webhook.status))
            writer.key("attempts")
            if includesAttempts {
                writer.array { writer in
                    for attempt in delivery.log?.attempts ?? [] { write(attempt, into: &writer) }
                }
            } else {
                writer.integer(delivery.attempts)
            }
            writer.member("created_at", TimestampJSON.text(delivery.createdAt))
            writer.member(
                "next_attempt_at", webhook.isActive ? delivery.nextAt.map(TimestampJSON.text) : nil)
            writer.member("finished_at", delivery.finishedAt.map(TimestampJSON.text))
            writer.key("last_status")
            if let status = delivery.answer?.status {
                writer.integer(status)
            } else {
                writer.null()
            }
            writer.member("last_failure", delivery.answer?.failure)
            guard let body else { return }
            writer.key("headers")
            writer.object { writer in
                let log = delivery.log ?? WebhookDelivery.Log()
                for (name, value) in zip(log.headerNames, log.headerValues) {
                    writer.key(name)
                    writer.string(value)
                }
            }
            writer.member("body", String(decoding: body, as: UTF8.self))
        }
    }

    private static func write(_ attempt: WebhookDelivery.Attempt, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at", TimestampJSON.text(attempt.at))
            writer.member("duration_ms", attempt.duration)
            writer.key("status")
            if let status = attempt.answer.status {
                writer.integer(status)
            } else {
                writer.null()
            }
            writer.member("error", attempt.answer.failure)
            writer.member("response", String(decoding: attempt.response, as: UTF8.self))
        }
    }
}

extension Webhook {
    fileprivate var isActive: Bool {
        if case .active = status { true } else { false }
    }
}

/// A request to replay a range of the log (X6).
public enum WebhookReplayJSON {
    /// Reads `after` and `before`, both outside the range; without `before` the range extends to the end of the log.
    public static func read(
        _ body: JSONValue
    ) throws(Rejection) -> (after: LogPosition, before: LogPosition?) {
        guard let value = body.present("after") else { throw .missing("after") }
        guard let after = value.integer, after >= 0 else { throw .invalid("after", .replayAfter) }
        guard let value = body.present("before") else { return (LogPosition(after), nil) }
        guard let before = value.integer, before > after else {
            throw .invalid("before", .replayBefore)
        }
        return (LogPosition(after), LogPosition(before))
    }

    /// Returns the response: the range to replay, which excludes `after` and includes `through`.
    public static func answer(after: LogPosition, through: LogPosition) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("after", after.number)
            writer.member("through", through.number)
        }
        return writer.finish()
    }
}

/// A request to rotate the secret (X6).
public enum WebhookSecretJSON {
    /// The default of `keep_for_seconds`, the time during which the former secret signs as well: a day.
    private static let defaultOverlap: Int64 = 86_400
    /// The largest `keep_for_seconds`: 30 days.
    public static let maximumOverlap: Int64 = 30 * 86_400

    /// Reads `secret` and `keep_for_seconds`.
    ///
    /// - Returns: The secret, and for how many milliseconds the former one signs as well.
    public static func read(
        _ body: JSONValue
    ) throws(Rejection) -> (secret: String, keeping: Int64) {
        guard let value = body.present("secret") else { throw .missing("secret") }
        guard let secret = value.string, Webhook.Draft.isSecret(secret) else {
            throw .invalid("secret", .webhookSecret)
        }
        guard let value = body.present("keep_for_seconds") else {
            return (secret, defaultOverlap * 1000)
        }
        guard let seconds = value.integer, (0...maximumOverlap).contains(seconds) else {
            throw .invalid("keep_for_seconds", .secretOverlap)
        }
        return (secret, seconds * 1000)
    }
}

extension WebhookDeliveryJSON {
    /// The schema of a delivery in any state.
    public static let schema = JSONSchema.named(
        "WebhookDelivery",
        .object([
            .required("id", .delivery),
            .required(
                "event_id",
                JSONSchema.uuid.withDescription(
                    "The id of the event, the same in all of its deliveries.")),
            .required("event_type", .choice(WebhookDraftJSON.names + [WebhookTestJSON.type])),
            .required(
                "position",
                JSONSchema.integer(1 ... .max).orNull.withDescription(
                    "The position of the event in the log; `null` for a test.")
            ),
            .required("conversation", JSONSchema.identifier(.conversations).orNull),
            .required("state", .choice(WebhookDelivery.State.allCases.map(\.rawValue))),
            .required(
                "webhook_status",
                WebhookJSON.status.withDescription(
                    "Pending deliveries wait until the webhook is `active`.")),
            .required(
                "attempts",
                .anyOf([
                    JSONSchema.integer(0 ... .max).withDescription(
                        "Their number since the delivery was requested."),
                    JSONSchema.array(of: attempt).withDescription(
                        "The last 20, oldest first: of one delivery, and with `include=attempts`."),
                ])),
            .required("created_at", .time),
            .required(
                "next_attempt_at",
                JSONSchema.time.orNull.withDescription(
                    "`null` while it waits for another delivery, or for its webhook to be active.")),
            .required("finished_at", JSONSchema.time.orNull),
            .required("last_status", JSONSchema.integer(200...599).orNull),
            .required("last_failure", JSONSchema.string.orNull),
            .optional(
                "headers",
                JSONSchema.object([], others: .string).withDescription(
                    "Of one delivery: the headers of the last request.")),
            .optional(
                "body",
                JSONSchema.string.withDescription("Of one delivery: the body of the request.")),
        ]))

    private static let attempt = JSONSchema.named(
        "DeliveryAttempt",
        .object([
            .required("at", .time),
            .required("duration_ms", .integer(0 ... .max)),
            .required("status", JSONSchema.integer(200...599).orNull),
            .required("error", JSONSchema.string.orNull),
            .required(
                "response",
                JSONSchema.string.withDescription("The first 1,024 bytes of the body.")),
        ]))
}

extension WebhookReplayJSON {
    /// The schema of what ``read(_:)`` reads.
    public static let schema = JSONSchema.named(
        "WebhookReplay",
        .object([
            .required(
                "after",
                JSONSchema.integer(0 ... .max).withDescription(
                    "The position before the first event.")),
            .optional(
                "before",
                JSONSchema.integer(1 ... .max)
                    .withDescription(
                        "The position after the last event; by default the end of the log.")),
        ]))

    /// The schema of what ``answer(after:through:)`` writes.
    public static let answerSchema = JSONSchema.named(
        "WebhookReplayAccepted",
        .object([
            .required("after", .integer(0 ... .max)),
            .required("through", .integer(0 ... .max)),
        ]))
}

extension WebhookSecretJSON {
    /// The schema of what ``read(_:)`` reads.
    public static let schema = JSONSchema.named(
        "WebhookSecret",
        .object([
            .required("secret", .storable(length: 1...Webhook.Draft.secretLimit)),
            .optional(
                "keep_for_seconds",
                JSONSchema.integer(0...maximumOverlap)
                    .withDescription("How long the former secret signs as well; by default a day.")),
        ]))
}
