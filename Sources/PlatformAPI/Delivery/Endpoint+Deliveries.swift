import HTTP
import JSON
import Messaging
import MessagingWire

extension Endpoint {
    /// What webhooks were sent and will be (X6).
    static let deliveries = [
        Endpoint(
            .get, "/apps/{app}/webhooks/{webhook}/deliveries",
            "Lists what a webhook was and will be sent, newest first.", family: .webhooks,
            .head { call in try await call.listDeliveries() }
        ) { _ in
            Operation(
                "listDeliveries",
                query: [
                    Parameter(
                        "state", .choice(WebhookDelivery.State.allCases.map(\.rawValue)),
                        "Only those that have come so far.")
                ] + Parameter.page(from: .deliveryName),
                answers: [.list(of: WebhookDeliveryJSON.schema)], errors: [.notFound],
                example: Example(query: [("state", "pending")], after: ["testWebhook"]))
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/deliveries/{delivery}/retry",
            "Tries a delivery now, from the beginning of the schedule.", family: .webhooks,
            .head { call in try await call.retryDelivery() }
        ) { _ in
            Operation("retryDelivery", answers: [.accepted(WebhookDeliveryJSON.schema)])
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/replay",
            "Sends a webhook a stretch of the log again, once it is active.", family: .webhooks,
            .body { call, body in try await call.replayWebhook(body) }
        ) { _ in
            Operation(
                "replayWebhook", body: WebhookReplayJSON.schema,
                answers: [.accepted(WebhookReplayJSON.answerSchema)],
                errors: [.notFound, .positionGone],
                example: Example(body: #"{"after":0,"before":100}"#))
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/test",
            "Sends a webhook a test, once it is active.", family: .webhooks,
            .head { call in try await call.testWebhook() }
        ) { _ in
            Operation(
                "testWebhook", answers: [.accepted(WebhookDeliveryJSON.schema)],
                errors: [.notFound])
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/rotate_secret",
            "Replaces the secret; the former one signs beside it for a while.",
            family: .webhooks, .body { call, body in try await call.rotateSecret(body) }
        ) { _ in
            Operation(
                "rotateSecret", body: WebhookSecretJSON.schema,
                answers: [.ok(WebhookJSON.schema, "The webhook.", [.tag])], errors: [.notFound],
                example: Example(
                    body: #"{"secret":"whsec_czNjcmV0LW51bWJlci10d28=","keep_for_seconds":3600}"#))
        },
    ]
}
