import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import Readers

extension ConsoleRoute {
    /// Help with the webhooks of an application.
    static let webhooks = [
        ConsoleRoute(
            .post, "/console/api/apps/{app}/webhooks/{webhook}/check_signature", .all(.write),
            members: ["headers", "body"]
        ) { request in try await request.checkSignature() }
    ]
}

extension ConsoleRequest {
    /// `POST apps/{app}/webhooks/{webhook}/check_signature`: the answer does not contain the secret.
    fileprivate func checkSignature() async throws -> Response {
        guard let headers = body["headers"] else { throw Rejection.missing("headers") }
        guard headers.kind == .object,
            headers.members.allSatisfy({ _, value in value.kind == .string })
        else {
            throw APIError(
                .invalidProperty, "`headers` must be an object of strings.",
                data: .property("headers"))
        }
        guard let content = body["body"] else { throw Rejection.missing("body") }
        guard let bytes = content.utf8 else {
            throw APIError(
                .invalidProperty, "`body` must be the text of the body.", data: .property("body"))
        }
        let application = try await application()
        guard let id = parameters["webhook"].flatMap({ Webhook.ID(uuid: $0) }) else {
            throw Rejection.notFound(.webhook)
        }
        let webhook = try await api.store.webhook(id, in: application.id)
        let check = WebhookSignatureCheck(
            headers: headers.members.map { name, value in (name, value.string ?? "") },
            body: Array(bytes), secret: webhook.secret, at: api.clock())
        return Response.console { writer in
            writer.object { writer in
                writer.member("layer", check.layer.rawValue)
                writer.member("standard", check.standard.rawValue)
                writer.member("reason", check.reason)
            }
        }
    }
}
