import HTTP
import JSON
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
