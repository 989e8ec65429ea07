import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
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
        let addresses = await api.lookUp(name)
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
        WebhookJSON.write(ShownWebhook(webhook), links, into: &writer)
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
