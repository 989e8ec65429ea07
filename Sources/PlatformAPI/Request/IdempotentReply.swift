import HTTP
import Messaging
import MessagingStore
import MessagingWire
import SystemSupport

extension RequestContext {
    /// Step 8: handles a request with an `Idempotency-Key`, unless it was handled before (X2).
    ///
    /// The handler does not notice: its store is the inside of one transaction, in which its answer is
    /// kept as well.
    func reply(
        once key: IdempotencyKey, to endpoint: Endpoint, _ body: [UInt8],
        _ handle: @escaping @Sendable (RequestContext) async throws -> Reply
    ) async throws -> Reply {
        let made = Locked<Reply?>(nil)
        let work = { @Sendable (store: MessagingStore) in
            var call = self
            call.store = store
            let reply = try await handle(call)
            // The last one counts: a transaction may have to be run again.
            made.withLock { made in made = reply }
            // A repeat may ask for another version; the answer is still in this one.
            return reply.adding(Negotiation.versionField, version.rawValue).kept
        }
        let pieces =
            [
                Array(endpoint.method.rawValue.utf8), Array(request.target.path.utf8),
                Array((request.target.query ?? "").utf8), body,
            ] + Self.saying.map { name in Array((request.fields.joined(name) ?? "").utf8) }
            // Said later than the others: what was kept without it must be known again.
            + (request.fields.joined("Content-Disposition").map { text in [Array(text.utf8)] } ?? [])
        let outcome =
            if endpoint.hasExternalEffects {
                try await store.doOnceOutsideTransaction(
                    key, describedBy: pieces, in: application, work)
            } else {
                try await store.doOnce(key, describedBy: pieces, in: application, work)
            }
        switch outcome {
        case .done(let answer): return made.withLock { made in made } ?? Reply(answer)
        case .replayed(let answer): return Reply(answer).adding("Idempotent-Replayed", "true")
        }
    }

    /// Header fields that say what is asked as a body says it elsewhere (platform-api §5.4).
    private static let saying: [FieldName] = [
        "Upload-Content-Type", "Upload-Content-Length", "Upload-Origin",
    ]
}

extension Reply {
    /// What is kept of it: all but the fields that every answer carries.
    fileprivate var kept: StoredResponse {
        StoredResponse(status: status.code, fields: fields.bytes, body: json)
    }

    /// An answer given before.
    fileprivate init(_ answer: StoredResponse) {
        let status = [Status.ok, .created, .accepted, .noContent]
            .first { status in status.code == answer.status }
        self.init(
            status ?? Status(answer.status, "Success"), answer.body,
            fields: ResponseFields(bytes: answer.fields))
    }
}
