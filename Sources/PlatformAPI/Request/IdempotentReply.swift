import HTTP
import Messaging
import MessagingStore
import MessagingWire
import SystemSupport

extension RequestContext {
    /// Step 8: handles a request with an `Idempotency-Key`, or replays the answer of the first one (X2).
    ///
    /// The handler runs unchanged: its store is one transaction, which also stores the answer.
    func reply(
        once key: IdempotencyKey, to endpoint: Endpoint, _ body: [UInt8],
        _ handle: @escaping @Sendable (RequestContext) async throws -> Reply
    ) async throws -> Reply {
        let lastReply = Locked<Reply?>(nil)
        let work = { @Sendable (store: MessagingStore) in
            var context = self
            context.store = store
            let reply = try await handle(context)
            // The transaction may be retried, so the last reply counts.
            lastReply.withLock { last in last = reply }
            // A replay has this version, even if the repeated request accepts another one.
            return reply.adding(Negotiation.versionField, version.rawValue).stored
        }
        let description =
            [
                Array(endpoint.method.rawValue.utf8), Array(request.target.path.utf8),
                Array((request.target.query ?? "").utf8), body,
            ] + Self.contentHeaders.map { name in Array((request.fields.joined(name) ?? "").utf8) }
        let outcome =
            if endpoint.hasExternalEffects {
                try await store.doOnceOutsideTransaction(
                    key, of: caller.user, describedBy: description, in: application, work)
            } else {
                try await store.doOnce(
                    key, of: caller.user, describedBy: description, in: application, work)
            }
        switch outcome {
        case .done(let answer): return lastReply.withLock { last in last } ?? Reply(answer)
        case .replayed(let answer): return Reply(answer).adding("Idempotent-Replayed", "true")
        }
    }

    /// The headers that describe new content, as a body would: another value makes it another request (platform-api
    /// §5.4).
    private static let contentHeaders: [FieldName] = [
        "Content-Disposition", "Upload-Content-Type", "Upload-Content-Length", "Upload-Origin",
    ]
}

extension Reply {
    /// The stored part of an answer: all but the headers that every answer has.
    fileprivate var stored: StoredResponse {
        StoredResponse(status: status.code, fields: fields.bytes, body: json)
    }

    /// A replayed answer.
    fileprivate init(_ answer: StoredResponse) {
        let status = [Status.ok, .created, .accepted, .noContent]
            .first { status in status.code == answer.status }
        self.init(
            status ?? Status(answer.status, "Success"), answer.body,
            fields: ResponseFields(bytes: answer.fields))
    }
}
