public import JSON
import Messaging

extension WebhookDeliveryJSON {
    /// A delivery, however far it has come.
    public static let schema = JSONSchema.named(
        "WebhookDelivery",
        .object([
            .required("id", .delivery),
            .required(
                "event_id", JSONSchema.uuid.saying("The same in all deliveries of one event.")),
            .required("event_type", .choice(WebhookDraftJSON.names + [WebhookTestJSON.type])),
            .required(
                "position",
                JSONSchema.integer(1 ... .max).orNull.saying("In the log; none of a test.")),
            .required("conversation", JSONSchema.identifier(.conversations).orNull),
            .required("state", .choice(WebhookDelivery.State.allCases.map(\.rawValue))),
            .required(
                "webhook_status",
                WebhookJSON.status.saying("What is pending waits until it is `active`.")),
            .required("attempts", .integer(0 ... .max)),
            .required("created_at", .time),
            .required(
                "next_attempt_at",
                JSONSchema.time.orNull.saying(
                    "None while it waits behind another one, or for its webhook to be active.")),
            .required("finished_at", JSONSchema.time.orNull),
            .required("last_status", JSONSchema.integer(200...599).orNull),
            .required("last_failure", JSONSchema.string.orNull),
        ]))
}

extension WebhookReplayJSON {
    /// What ``read(_:)`` reads.
    public static let schema = JSONSchema.named(
        "WebhookReplay",
        .object([
            .required(
                "after", JSONSchema.integer(0 ... .max).saying("The position before the first.")),
            .optional(
                "before",
                JSONSchema.integer(1 ... .max)
                    .saying("The position behind the last; none: all there are now.")),
        ]))

    /// What ``answer(after:through:)`` writes.
    public static let answerSchema = JSONSchema.named(
        "WebhookReplayAccepted",
        .object([
            .required("after", .integer(0 ... .max)),
            .required("through", .integer(0 ... .max)),
        ]))
}

extension WebhookSecretJSON {
    /// What ``read(_:)`` reads.
    public static let schema = JSONSchema.named(
        "WebhookSecret",
        .object([
            .required("secret", .storable(length: 1...Webhook.Draft.secretLimit)),
            .optional(
                "keep_for_seconds",
                JSONSchema.integer(0...longest)
                    .saying("How long the former one signs beside it; a day unless said.")),
        ]))
}
