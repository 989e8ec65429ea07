import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// Webhooks (webhooks §1).
    static let webhooks = [
        Endpoint(
            .post, "/apps/{app}/webhooks", "Registers a webhook.", family: .webhooks,
            check: { context, body in try await context.checkTarget(body) },
            .jsonBody { context, body in try await context.createWebhook(body) }
        ) { version in
            Operation(
                "createWebhook", body: WebhookDraftJSON.schema,
                answers: [.created(WebhookJSON.schema, [.tag])], errors: [.invalidOperation],
                example: Example(body: Sample.webhookDraft(version)))
        },
        Endpoint(
            .get, "/apps/{app}/webhooks", "Lists webhooks of all versions, newest first.",
            family: .webhooks, .withoutBody { context in try await context.listWebhooks() }
        ) { _ in
            Operation(
                "listWebhooks", query: Parameter.page(from: .webhookName),
                answers: [.list(of: WebhookJSON.schema)], errors: [.notFound],
                example: Example(query: [("page_size", "20")], after: ["createWebhook"]))
        },
        Endpoint(
            .get, "/apps/{app}/webhooks/{webhook}", "Reads a webhook.", family: .webhooks,
            .withoutBody { context in try await context.readWebhook() }
        ) { _ in
            Operation(
                "readWebhook", fields: [.ifNoneMatch],
                answers: [.ok(WebhookJSON.schema, "The object.", [.tag]), .notModified])
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/activate",
            "Verifies the target of a webhook again, then sends to it.",
            family: .webhooks, .withoutBody { context in try await context.activateWebhook() }
        ) { _ in
            Operation(
                "activateWebhook", answers: [.ok(WebhookJSON.schema, "The object.", [.tag])])
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/deactivate",
            "Deactivates a webhook.", family: .webhooks,
            .withoutBody { context in try await context.deactivateWebhook() }
        ) { _ in
            Operation(
                "deactivateWebhook", answers: [.ok(WebhookJSON.schema, "The object.", [.tag])])
        },
        Endpoint(
            .delete, "/apps/{app}/webhooks/{webhook}",
            "Deletes a webhook and its pending deliveries.", family: .webhooks,
            .withoutBody { context in try await context.deleteWebhook() }
        ) { _ in
            Operation("deleteWebhook", fields: [.ifMatch], answers: [.noContent])
        },
    ]
}

extension Sample {
    /// The registration of a webhook of a version.
    fileprivate static func webhookDraft(_ version: APIVersion) -> String {
        let isFirst = !version.namesIdentities
        let events =
            isFirst
            ? #"["message.sent","conversation.created"]"#
            : #"["Message.created","Conversation.created"]"#
        return """
            {"version":"\(isFirst ? "1.0" : version.rawValue)",\
            "target_url":"https://hooks.example.org/in","events":\(events),\
            "secret":"s3cret","config":{"name":"audit"}}
            """
    }
}

extension RequestContext {
    /// `POST /webhooks` (webhooks §1.2); the target is verified in the background.
    func createWebhook(_ body: JSONValue) async throws -> Reply {
        let webhook = try await store.createWebhook(webhookDraft(body), in: application)
        return Reply(.created, json(webhook)).addingETag(webhook.version)
    }

    /// Rejects a target whose host resolves to a forbidden address (X6). An unknown host is accepted: it may become
    /// known, and is resolved again for each delivery.
    func checkTarget(_ body: JSONValue) async throws {
        let draft = try webhookDraft(body)
        guard case .name(let name)? = TargetURL(draft.target)?.host else { return }
        let addresses = await api.resolveHost(name)
        guard addresses.allSatisfy(api.settings.outbound.admits) else {
            throw Rejection.invalid("target_url", .webhookTargetHost, .init(text: name))
        }
    }

    private func webhookDraft(_ body: JSONValue) throws -> Webhook.Draft {
        let rule = api.settings.outbound
        return try WebhookDraftJSON.read(body.asObject()) { target in
            TargetURL(target)?.isAdmitted(by: rule) == true
        }
    }

    /// Returns the JSON of a webhook.
    func json(_ webhook: Webhook) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        WebhookJSON.write(WebhookSummary(webhook), links, into: &writer)
        return writer.finish()
    }

    /// The webhook in the path; a malformed UUID is not found (ruling 7).
    func webhook() throws(Rejection) -> Webhook.ID {
        guard let id = parameters["webhook"].flatMap({ Webhook.ID(uuid: $0) }) else {
            throw .notFound(.webhook)
        }
        return id
    }
}

extension RequestContext {
    /// `GET /webhooks/{id}` (webhooks §1.2).
    func readWebhook() async throws -> Reply {
        let webhook = try await store.webhook(webhook(), in: application)
        return conditionalReply(webhook.version) { Reply(.ok, json(webhook)) }
    }

    /// `GET /webhooks` (webhooks §1.2): the webhooks of all versions, in pages.
    func listWebhooks() async throws -> Reply {
        let page = try PageQuery<Webhook>(query) { text in
            IdentifierJSON.read(text, of: application)
        }
        let found = try await store.webhooks(
            after: page.after, limit: page.limit, isCounted: query.isCounted, in: application)
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for webhook in found.items.prefix(page.size) {
                WebhookJSON.write(WebhookSummary(webhook), links, into: &writer)
            }
        }
        return try listing(writer.finish(), of: found, size: page.size) { webhook in
            webhook.id.uuid
        }
    }
}

extension RequestContext {
    /// `POST /webhooks/{id}/activate` (webhooks §1.2): the target is verified again.
    func activateWebhook() async throws -> Reply {
        let webhook = try await store.activateWebhook(webhook(), in: application)
        return Reply(.ok, json(webhook)).addingETag(webhook.version)
    }

    /// `POST /webhooks/{id}/deactivate` (webhooks §1.2).
    func deactivateWebhook() async throws -> Reply {
        let webhook = try await store.deactivateWebhook(webhook(), in: application)
        return Reply(.ok, json(webhook)).addingETag(webhook.version)
    }

    /// `DELETE /webhooks/{id}` (webhooks §1.2).
    func deleteWebhook() async throws -> Reply {
        try await withPrecondition { (webhook: Webhook) in
            json(webhook)
        } change: { precondition in
            try await store.deleteWebhook(webhook(), if: precondition, in: application)
        }
        return .noContent
    }
}
