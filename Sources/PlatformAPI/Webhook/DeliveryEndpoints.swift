import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// Deliveries of webhooks (X6).
    static let deliveries = [
        Endpoint(
            .get, "/apps/{app}/webhooks/{webhook}/deliveries",
            "Lists the deliveries of a webhook, newest first.", family: .webhooks,
            .withoutBody { context in try await context.listDeliveries() }
        ) { _ in
            Operation(
                "listDeliveries",
                query: [
                    Parameter(
                        "state", .choice(WebhookDelivery.State.allCases.map(\.rawValue)),
                        "Only deliveries in this state."),
                    Parameter(
                        "after", .deliveryName, "Only deliveries that were created after this one."),
                    Parameter(
                        "include", .choice(["attempts"]),
                        "`attempts`: each attempt instead of their number."),
                ] + Parameter.page(from: .deliveryName),
                answers: [.list(of: WebhookDeliveryJSON.schema)], errors: [.notFound],
                example: Example(query: [("state", "pending")], after: ["testWebhook"]))
        },
        Endpoint(
            .get, "/apps/{app}/webhooks/{webhook}/deliveries/{delivery}",
            "Reads a delivery with its request and its attempts.", family: .webhooks,
            .withoutBody { context in try await context.readDelivery() }
        ) { _ in
            Operation(
                "readDelivery", answers: [.ok(WebhookDeliveryJSON.schema, "The delivery.")],
                errors: [.notFound])
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/deliveries/{delivery}/retry",
            "Retries a delivery now, with a new retry schedule.", family: .webhooks,
            .withoutBody { context in try await context.retryDelivery() }
        ) { _ in
            Operation("retryDelivery", answers: [.accepted(WebhookDeliveryJSON.schema)])
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/replay",
            "Replays a range of the event log to a webhook, once it is active.", family: .webhooks,
            .jsonBody { context, body in try await context.replayWebhook(body) }
        ) { _ in
            Operation(
                "replayWebhook", body: WebhookReplayJSON.schema,
                answers: [.accepted(WebhookReplayJSON.answerSchema)],
                errors: [.notFound, .positionGone],
                example: Example(body: #"{"after":0,"before":100}"#))
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/test",
            "Sends a test delivery to a webhook, once it is active.", family: .webhooks,
            .withoutBody { context in try await context.testWebhook() }
        ) { _ in
            Operation(
                "testWebhook", answers: [.accepted(WebhookDeliveryJSON.schema)],
                errors: [.notFound])
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/rotate_secret",
            "Replaces the secret; the old one also signs for a while.",
            family: .webhooks, .jsonBody { context, body in try await context.rotateSecret(body) }
        ) { _ in
            Operation(
                "rotateSecret", body: WebhookSecretJSON.schema,
                answers: [.ok(WebhookJSON.schema, "The webhook.", [.tag])], errors: [.notFound],
                example: Example(
                    body: #"{"secret":"whsec_czNjcmV0LW51bWJlci10d28=","keep_for_seconds":3600}"#))
        },
    ]
}

extension RequestContext {
    /// `GET /webhooks/{id}/deliveries` (X6), in pages.
    func listDeliveries() async throws -> Reply {
        let id = try self.webhook()
        let page = try PageQuery<WebhookDelivery>(query) { text in
            IdentifierJSON.read(text, of: id, in: application)
        }
        var state: WebhookDelivery.State?
        if let text = query["state"] {
            guard let named = WebhookDelivery.State(rawValue: text) else {
                throw Rejection.invalid("state", .deliveryState)
            }
            state = named
        }
        let last = try query["after"].map { text throws(Rejection) in
            guard let last = IdentifierJSON.read(text, of: id, in: application) else {
                throw .invalid("after", .pageStart)
            }
            return last
        }
        let includesAttempts = try query.isSet("include", to: "attempts", .deliveryInclude)
        let found = try await store.deliveries(
            of: id, in: state, newerThan: last, after: page.after, limit: page.limit,
            isCounted: query.isCounted, withLogs: includesAttempts, of: application)
        let webhook = try await store.webhook(id, in: application)
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for delivery in found.items.prefix(page.size) {
                WebhookDeliveryJSON.write(
                    delivery, of: webhook, in: application, includesAttempts: includesAttempts,
                    into: &writer)
            }
        }
        return try listing(writer.finish(), of: found, size: page.size) { delivery in
            delivery.id.uuid
        }
    }

    /// `GET /webhooks/{id}/deliveries/{delivery}` (X6).
    func readDelivery() async throws -> Reply {
        let id = try self.webhook()
        let found = try await store.delivery(delivery(), of: id, in: application)
        let webhook = try await store.webhook(id, in: application)
        var writer = JSONWriter(capacity: 1024 + found.body.count)
        WebhookDeliveryJSON.write(
            found.delivery, of: webhook, in: application, includesAttempts: true,
            body: found.body, into: &writer)
        return Reply(.ok, writer.finish())
    }
}

extension RequestContext {
    /// `POST /webhooks/{id}/deliveries/{delivery}/retry` (X6).
    func retryDelivery() async throws -> Reply {
        let webhook = try webhook()
        let delivery = try await store.retryDelivery(delivery(), of: webhook, in: application)
        return try await accepted(delivery, of: webhook)
    }

    /// `POST /webhooks/{id}/test` (X6).
    func testWebhook() async throws -> Reply {
        let webhook = try webhook()
        let delivery = try await store.testDelivery(
            DeliveryDraft.test, of: webhook, in: application)
        return try await accepted(delivery, of: webhook)
    }

    /// `POST /webhooks/{id}/replay` (X6).
    func replayWebhook(_ body: JSONValue) async throws -> Reply {
        let (after, before) = try WebhookReplayJSON.read(body.asObject())
        let replay = try await store.replay(
            after: after, before: before, to: webhook(), in: application)
        return Reply(
            .accepted,
            WebhookReplayJSON.answer(
                after: replay.checkpoint.after,
                through: max(replay.through, replay.checkpoint.after)))
    }

    /// `POST /webhooks/{id}/rotate_secret` (X6).
    func rotateSecret(_ body: JSONValue) async throws -> Reply {
        let (secret, keeping) = try WebhookSecretJSON.read(body.asObject())
        let webhook = try await store.rotateSecret(
            to: secret, keeping: keeping, of: webhook(), in: application)
        return Reply(.ok, json(webhook)).addingETag(webhook.version)
    }

    private func accepted(
        _ delivery: WebhookDelivery, of webhook: Webhook.ID
    ) async throws -> Reply {
        let webhook = try await store.webhook(webhook, in: application)
        var writer = JSONWriter(capacity: 512)
        WebhookDeliveryJSON.write(delivery, of: webhook, in: application, into: &writer)
        return Reply(.accepted, writer.finish())
    }

    /// The delivery in the path; a malformed UUID is not found (ruling 7).
    private func delivery() throws(Rejection) -> WebhookDelivery.ID {
        guard let id = parameters["delivery"].flatMap({ WebhookDelivery.ID(uuid: $0) }) else {
            throw .notFound(.delivery)
        }
        return id
    }
}

extension DeliveryDraft {
    /// The test event of a webhook (X6).
    static func test(
        _ webhook: Webhook, _ event: EventID, at moment: Timestamp
    ) -> DeliveryDraft {
        DeliveryDraft(
            webhook: webhook.id, event: event, type: WebhookTestJSON.type, position: nil,
            conversation: nil, body: WebhookTestJSON.body(event, at: moment, to: webhook))
    }
}
