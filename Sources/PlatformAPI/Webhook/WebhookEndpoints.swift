import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// Who is told of what happens (webhooks §1).
    static let webhooks = [
        Endpoint(
            .post, "/apps/{app}/webhooks", "Registers a webhook.", family: .webhooks,
            check: { call, body in try await call.checkTarget(body) },
            .body { call, body in try await call.createWebhook(body) }
        ) { version in
            Operation(
                "createWebhook", body: WebhookDraftJSON.schema,
                answers: [.created(WebhookJSON.schema, [.tag])], errors: [.invalidOperation],
                example: Example(body: Sample.webhookDraft(version)))
        },
        Endpoint(
            .get, "/apps/{app}/webhooks", "Lists webhooks of all versions, newest first.",
            family: .webhooks, .head { call in try await call.listWebhooks() }
        ) { _ in
            Operation(
                "listWebhooks", query: Parameter.page(from: .webhookName),
                answers: [.list(of: WebhookJSON.schema)], errors: [.notFound],
                example: Example(query: [("page_size", "20")], after: ["createWebhook"]))
        },
        Endpoint(
            .get, "/apps/{app}/webhooks/{webhook}", "Shows a webhook.", family: .webhooks,
            .head { call in try await call.readWebhook() }
        ) { _ in
            Operation(
                "readWebhook", fields: [.ifNoneMatch],
                answers: [.ok(WebhookJSON.schema, "The object.", [.tag]), .notModified])
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/activate",
            "Asks the target of a webhook again, and sends to it from then on.",
            family: .webhooks, .head { call in try await call.activateWebhook() }
        ) { _ in
            Operation(
                "activateWebhook", answers: [.ok(WebhookJSON.schema, "The object.", [.tag])])
        },
        Endpoint(
            .post, "/apps/{app}/webhooks/{webhook}/deactivate",
            "Sends nothing to a webhook any more.", family: .webhooks,
            .head { call in try await call.deactivateWebhook() }
        ) { _ in
            Operation(
                "deactivateWebhook", answers: [.ok(WebhookJSON.schema, "The object.", [.tag])])
        },
        Endpoint(
            .delete, "/apps/{app}/webhooks/{webhook}",
            "Deletes a webhook, and what waits to be sent to it.", family: .webhooks,
            .head { call in try await call.deleteWebhook() }
        ) { _ in
            Operation("deleteWebhook", fields: [.ifMatch], answers: [.noContent])
        },
    ]
}

extension Sample {
    /// A registration for what is sent in a version.
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
    /// `POST /webhooks` (webhooks §1.2); its target is asked by itself.
    func createWebhook(_ body: JSONValue) async throws -> Reply {
        let webhook = try await store.createWebhook(webhookDraft(body), in: application)
        return Reply(.created, json(webhook)).tagged(webhook.version)
    }

    /// Refuses a target whose name leads to where nobody may go (X6). One that nobody knows is let
    /// through: it may be known later, and is looked up again each time it is called.
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

    /// A webhook as answers show it.
    func json(_ webhook: Webhook) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        WebhookJSON.write(WebhookSummary(webhook), links, into: &writer)
        return writer.finish()
    }

    /// The webhook in the path; a malformed UUID names nothing (ruling 7).
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
        return reading(webhook.version) { Reply(.ok, json(webhook)) }
    }

    /// `GET /webhooks` (webhooks §1.2), paged as all lists are, whatever their versions.
    func listWebhooks() async throws -> Reply {
        let page = try PageQuery<Webhook>(query) { text in
            IdentifierJSON.read(text, of: application)
        }
        let found = try await store.webhooks(after: page.after, limit: page.limit, in: application)
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
    /// `POST /webhooks/{id}/activate` (webhooks §1.2): its target is asked once more.
    func activateWebhook() async throws -> Reply {
        let webhook = try await store.activateWebhook(webhook(), in: application)
        return Reply(.ok, json(webhook)).tagged(webhook.version)
    }

    /// `POST /webhooks/{id}/deactivate` (webhooks §1.2).
    func deactivateWebhook() async throws -> Reply {
        let webhook = try await store.deactivateWebhook(webhook(), in: application)
        return Reply(.ok, json(webhook)).tagged(webhook.version)
    }

    /// `DELETE /webhooks/{id}` (webhooks §1.2).
    func deleteWebhook() async throws -> Reply {
        try await demanding { (webhook: Webhook) in
            json(webhook)
        } change: { demand in
            try await store.deleteWebhook(webhook(), if: demand, in: application)
        }
        return .noContent
    }
}
