import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

// Requests in packets (client-api §5.3). Those that create an object run the endpoint of the same request over HTTP.
extension ClientSocket {
    /// What follows a request.
    enum Followup {
        case none
        /// The changes after a position are sent again, then the response.
        case replay(after: LogPosition, SocketResponse)
        /// The socket receives the presence of followed users.
        case subscribed
    }

    /// Performs what a packet asks for.
    func perform(_ packet: SocketPacket) async -> ([SocketOutput], Followup) {
        switch packet.content {
        case .malformed(let text):
            return ([failure(packet, "", nil, APIError(.invalidRequest, text))], .none)
        case .typing(let body): return ([await type(body, packet)], .none)
        case .request(let method, let object, let data):
            do {
                return try await perform(packet, method, object, data)
            } catch {
                return ([failure(packet, method, object, apiError(error))], .none)
            }
        }
    }

    private func perform(
        _ packet: SocketPacket, _ method: String, _ object: String?, _ data: JSONValue?
    ) async throws -> ([SocketOutput], Followup) {
        let success = { (json: [UInt8]) in
            SocketResponse(
                id: packet.id, method: method, object: object, isSuccess: true, data: json)
        }
        let empty = success(SocketResponse.none)
        switch method {
        case "Message.create":
            let prefix = "layer:///conversations/"
            guard let object, object.utf8.starts(with: prefix.utf8) else {
                throw APIError(Rejection.notFound(.conversation), .client)
            }
            let name = URIComponent.encoded(String(object.dropFirst(prefix.count)))
            return (
                await send("/conversations/\(name)/messages", data, packet, method, object), .none
            )
        case "Conversation.create":
            return (await send("/conversations", data, packet, method, object), .none)
        case "Counter.read": return ([.counter(empty)], .none)
        case "Event.replay":
            let start = try await replayStart(data)
            return ([], .replay(after: start, empty))
        case "Presence.subscribe" where version.namesIdentities:
            return ([.response(empty)], .subscribed)
        case "Presence.update" where version.namesIdentities:
            guard let data else { throw Rejection.missing("data") }
            api.signals.setPresence(
                try SignalJSON.presenceUpdate(data), of: user, in: application)
            return ([.response(empty)], .none)
        case "Presence.sync" where version.namesIdentities:
            return (try await syncPresence(data).map { .response(success($0)) }, .none)
        default:
            let name = method.quoted
            throw APIError(
                .invalidOperation,
                "\(name) is not a method of this sub-protocol; see the rules of the Client API, section 5.3."
            )
        }
    }

    /// Runs the endpoint of a request, as if it had come over HTTP with the session of the socket.
    private func send(
        _ path: String, _ data: JSONValue?, _ packet: SocketPacket, _ method: String,
        _ object: String?
    ) async -> [SocketOutput] {
        let body = data.map { data in Array(data.raw) } ?? SocketResponse.none
        let answer = api.answer(to: request(.post, path, count: body.count))
        let response =
            switch answer.outcome {
            case .response(let response): response
            case .work(_, let work): await work(PacketBody(body))
            case .upgrade(let upgrade): Response(upgrade)
            }
        let json = response.content.joinedBytes ?? SocketResponse.none
        let code = response.status.code
        let output = SocketOutput.response(
            SocketResponse(
                id: packet.id, method: method, object: object,
                isSuccess: (200..<300).contains(code), data: json))
        return code == 401 ? [output, .end] : [output]
    }

    private func replayStart(_ data: JSONValue?) async throws -> LogPosition {
        guard let value = data?["from_timestamp"], !value.isNull else {
            throw Rejection.missing("from_timestamp")
        }
        guard let start = value.string.flatMap(TimestampJSON.read) else {
            throw invalidTime("from_timestamp")
        }
        let oldest = api.clock().milliseconds - Self.replayRetention
        return try await api.store.position(
            before: max(start, Timestamp(milliseconds: max(0, oldest))), in: application)
    }

    private func invalidTime(_ name: String) -> APIError {
        APIError(
            .invalidProperty, "`\(name)` must be a time such as `2026-03-01T09:15:30.042Z`.",
            data: .property(name))
    }

    /// How old changes may be that are sent again, in milliseconds: seven days (client-api §5.6).
    private static let replayRetention: Int64 = 7 * 86_400_000

    // MARK: - Signals

    /// A signal without a receiver is dropped silently (client-api §5.7).
    private func type(_ body: JSONValue, _ packet: SocketPacket) async -> SocketOutput {
        let object = body["object"]?["id"]?.string
        do {
            guard
                let id = object.flatMap({ text -> Conversation.ID? in
                    IdentifierJSON.read(text, in: .conversations)
                })
            else { throw Rejection.notFound(.conversation) }
            guard let data = body["data"] else { throw Rejection.missing("data") }
            let action = try SignalJSON.typing(data)
            let conversation = try await api.store.requireTyping(
                by: user, in: id, in: application)
            api.signals.type(action, by: user, in: conversation, of: application)
        } catch {
            return failure(packet, "typing_indicator", object, apiError(error))
        }
        return .response(
            SocketResponse(
                id: packet.id, method: "typing_indicator", object: object, isSuccess: true,
                data: SocketResponse.none))
    }

    /// The data of the responses to `Presence.sync`, each with a batch of changes (client-api §5.8).
    private func syncPresence(_ data: JSONValue?) async throws -> [[UInt8]] {
        let wanted: Set<UserID>
        if let ids = data?["ids"], !ids.isNull {
            guard let users = SignalJSON.identities(ids), users.count <= Self.syncLimit else {
                throw APIError(
                    .invalidProperty,
                    "`ids` must be an array of at most \(Self.syncLimit.grouped) identity ids.",
                    data: .property("ids"))
            }
            wanted = Set(users)
        } else {
            guard let value = data?["since"], !value.isNull else {
                throw Rejection.missing("since")
            }
            guard let since = value.string.flatMap(TimestampJSON.read) else {
                throw invalidTime("since")
            }
            wanted = api.signals.changed(since: since, in: application)
        }
        let visible = try await api.store.visiblePresence(
            of: wanted, to: user, in: application)
        let found = api.signals.presence(of: visible.sorted(), in: application)
        let presentation = connection.presentation()
        let starts = stride(from: 0, to: max(found.count, 1), by: Self.syncBatch)
        let count = Array(starts).count
        return starts.enumerated().map { index, start in
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.key("changes")
                writer.array { writer in
                    for presence in found[start..<min(start + Self.syncBatch, found.count)] {
                        writer.raw(ChangeJSON.presence(presence, presentation))
                    }
                }
                writer.key("batch")
                writer.object { writer in
                    writer.member("index", index)
                    writer.member("count", count)
                }
            }
            return writer.finish()
        }
    }

    /// The most identities of one request, and the most changes of one response.
    private static let (syncLimit, syncBatch) = (1000, 100)

    // MARK: - Failures

    /// The response to a request that is refused because too many wait.
    func refusal(of packet: SocketPacket) -> SocketOutput {
        var method = ""
        if case .request(let name, _, _) = packet.content { method = name }
        return failure(
            packet, method, nil,
            .rateLimited("Too many requests of this socket wait.", retryAfter: 1))
    }

    private func failure(
        _ packet: SocketPacket, _ method: String, _ object: String?, _ error: APIError
    ) -> SocketOutput {
        .response(
            SocketResponse(
                id: packet.id, method: method, object: object, isSuccess: false,
                data: ErrorJSON.bytes(error, publicBase: connection.base)))
    }

    private func apiError(_ error: any Error) -> APIError {
        switch error {
        case let error as APIError: return error
        case let rejection as Rejection: return APIError(rejection, .client)
        default:
            switch api.onFault(error, connection.request.id) {
            case .unavailable:
                return APIError(.serviceUnavailable, "The service is not available now.")
            case .unexpected:
                return APIError(.internalServerError, "Something unexpected happened.")
            }
        }
    }
}
