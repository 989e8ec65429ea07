internal import HTTP
internal import JSON
internal import Messaging
internal import MessagingWire

/// A response of the server to a command.
struct OutboxResponse: Sendable {
    let status: Int
    let body: [UInt8]
    /// The header `Content-Location`.
    var contentLocation: String?
    /// The header `Retry-After`, in seconds.
    var retryAfter: Int?
    /// The header `Parley-Cursor`.
    var cursor: FeedPosition?
}

/// What follows an attempt to send a row of the outbox.
enum OutboxOutcome: Equatable, Sendable {
    /// It is done.
    case done
    /// The server has the conversation under another id (K23); with an error that the application is told (K25).
    case merged(Conversation.ID, ParleyError?)
    /// The same row is sent again later.
    case retry(after: Int?, ParleyError)
    /// A new session is needed first.
    case authenticate
    /// The server refuses it for good; perhaps with all that follows in its lane.
    case refused(ParleyError, wholeLane: Bool)
}

extension OutboxOutcome {
    /// Decides what follows a response: a pure function of the command and the answer (K32).
    ///
    /// - Parameters:
    ///   - kind: What was sent.
    ///   - id: The conversation that a creation proposed.
    init(_ response: OutboxResponse, to kind: OutboxKind, creating id: Conversation.ID?) {
        let document = try? JSONDocument(response.body)
        let error = ParleyError(status: response.status, document?.root)
        switch response.status {
        case 200...299:
            self = Self.success(kind, id, response.cursor, document?.root)
        case 401: self = .authenticate
        case 408, 425, 429, 500...: self = .retry(after: response.retryAfter, error)
        case _ where error.server == nil: self = .retry(after: response.retryAfter, error)
        case 409: self = Self.conflict(response, kind, id, error, document?.root)
        case 404, 410: self = Self.missing(kind, error)
        case 403: self = .refused(error, wholeLane: kind.isOfConversation)
        // The key is that of this row alone: an earlier attempt has succeeded, with the id that the conversation had before
        // it was merged.
        case 422 where error.server?.id == "idempotency_key_reuse": self = .done
        default: self = .refused(error, wholeLane: kind == .create)
        }
    }

    /// A success names its position in the feed; an answer of a proxy does not, whatever its status is.
    private static func success(
        _ kind: OutboxKind, _ id: Conversation.ID?, _ cursor: FeedPosition?, _ body: JSONValue?
    ) -> OutboxOutcome {
        guard cursor != nil else { return .retry(after: nil, .noAnswer) }
        guard kind == .create else { return .done }
        guard let found = body?["id"]?.string.flatMap({ text in Conversation.ID(text) }) else {
            return .retry(after: nil, .noAnswer)
        }
        return found == id ? .done : .merged(found, nil)
    }

    private static func conflict(
        _ response: OutboxResponse, _ kind: OutboxKind, _ id: Conversation.ID?,
        _ error: ParleyError, _ body: JSONValue?
    ) -> OutboxOutcome {
        switch error.server?.id {
        case "request_in_progress": return .retry(after: response.retryAfter, error)
        // The feed has still to say which messages the positions are now (K31).
        case "conversation_merged": return .retry(after: response.retryAfter, error)
        // Our own id: the answer to the first attempt was lost.
        case "id_in_use" where kind == .send || kind == .create: return .done
        default: break
        }
        let named = body?["data"]?["id"]?.string ?? response.contentLocation
        if kind == .create, let named, let last = named.split(separator: "/").last,
            let found = Conversation.ID(String(last))
        {
            let told = ParleyError(
                .distinctMetadataIgnored,
                "The conversation of these participants exists already with other metadata, which stays.",
                server: error.server)
            return .merged(found, told)
        }
        return .refused(error, wholeLane: kind == .create)
    }

    private static func missing(_ kind: OutboxKind, _ error: ParleyError) -> OutboxOutcome {
        switch kind {
        // What these ask for is the case.
        case .read, .delivery, .markAllRead, .deleteMessage, .deleteConversation, .leave, .unfollow,
            .announcementRead, .unregisterPush:
            .done
        case .create, .send, .patch, .follow, .registerPush:
            .refused(error, wholeLane: kind.isOfConversation)
        }
    }
}

extension OutboxKind {
    /// Whether a refusal concerns the whole conversation, so that later sends fail too.
    fileprivate var isOfConversation: Bool {
        switch self {
        case .create, .send, .patch: true
        default: false
        }
    }
}

extension ParleyError {
    static let noAnswer = ParleyError(
        .server, "The server's answer is not one of Parley; a proxy may have sent it.",
        isTransient: true)

    /// The error of an answer.
    ///
    /// - Parameter body: The error object; `server` is `nil` if it is none.
    init(status: Int, _ body: JSONValue?) {
        guard let id = body?["id"]?.string, let text = body?["message"]?.string else {
            self.init(
                .server, "The server answered \(status) without an error of Parley.",
                isTransient: status >= 500 || status < 400)
            return
        }
        let server = ServerError(
            status: status, id: id, code: body?["code"]?.integer.flatMap(Int.init(exactly:)) ?? 0,
            message: text)
        let code: Code =
            switch (status, id) {
            case (401, _): .notAuthenticated
            case (429, _): .rateLimited
            case (403, "user_suspended"), (403, "app_suspended"): .suspended
            case (403, _): .notAParticipant
            case (404, _), (410, _): .conversationGone
            case (413, _): .tooLarge
            case (422, "participant_blocked"): .participantBlocked
            default: .server
            }
        self.init(code, text, server: server, isTransient: status == 429 || status >= 500)
    }
}
