import Bytes
import HTTP
import Messaging
import MessagingStore
import MessagingWire
import Synchronization
import Uploads

/// A request that has passed the checks, with everything that a handler needs; the handlers are its methods.
struct RequestContext: Sendable {
    let api: PlatformAPI
    /// The store; for a request with an `Idempotency-Key`, one transaction in it (X2).
    var store: MessagingStore
    let request: Request
    let parameters: PathParameters
    /// The query parameters that the endpoint declares.
    let query: Query
    let version: APIVersion
    let application: Application.ID
    /// The token or session that authorizes the request.
    let caller: Caller
    /// The key in `If-None-Match` that identifies a repeated creation; `nil` for none (platform-api §1.9).
    let key: Replay.Key?
    /// Whether a secret has been written into the answer, which must then not be compressed.
    let secrets: SecretTracker
    /// Whether the answer must not show the contents of messages (``ContentHiding``).
    var hidesContent = false

    /// The base of the URLs in the answer.
    var publicBase: String { api.publicBase.of(request) }

    /// Builds URLs from the system's perspective.
    var links: LinkBuilder { links(.system) }

    func links(_ perspective: Perspective) -> LinkBuilder {
        LinkBuilder(
            publicBase: publicBase, application: application, perspective: perspective,
            omitsApplication: caller.user != nil)
    }

    /// Returns the form in which the answer shows objects: its version, its URLs, and how download URLs are signed.
    ///
    /// - Parameter saving: Whether browsers save what the download URLs open instead of showing it.
    func presentation(
        _ perspective: Perspective = .system, saving: Bool = false
    ) -> Presentation {
        let now = api.clock().milliseconds
        return Presentation(version: version, links: links(perspective)) {
            [downloads = api.downloads, request, secrets] content in
            secrets.note()
            return downloads.signedURL(content: content, at: now, saving: saving, for: request)
        }
    }
}

// MARK: - Names in the path

extension RequestContext {
    /// Whether the request has the perspective of a user: that of its session, or the one that the path is below.
    var isForUser: Bool { caller.user != nil || parameters["user"] != nil }

    /// Returns the perspective of the request: that of its user, or the system's.
    func perspective() throws(Rejection) -> Perspective {
        isForUser ? .user(try user()) : .system
    }

    // A malformed id is not found (ruling 7).

    func conversation() throws(Rejection) -> Conversation.ID {
        guard let id = parameters["conversation"].flatMap({ Conversation.ID(uuid: $0) }) else {
            throw .notFound(.conversation)
        }
        return id
    }

    /// Returns the conversation; `nil` for the short address of a message, which names none.
    func conversationIfNamed() throws(Rejection) -> Conversation.ID? {
        parameters["conversation"] == nil ? nil : try conversation()
    }

    func message() throws(Rejection) -> Message.ID {
        guard let id = parameters["message"].flatMap({ Message.ID(uuid: $0) }) else {
            throw .notFound(.message)
        }
        return id
    }

    func part() throws(Rejection) -> MessagePart.Name {
        guard let name = parameters["part"].flatMap({ MessagePartsJSON.name($0) }) else {
            throw .notFound(.messagePart)
        }
        return name
    }

    func content() throws(Rejection) -> Messaging.Content.ID {
        guard let id = parameters["content"].flatMap({ Messaging.Content.ID(uuid: $0) }) else {
            throw .notFound(.content)
        }
        return id
    }

    func announcement() throws(Rejection) -> Announcement.ID {
        guard let id = parameters["announcement"].flatMap({ Announcement.ID(uuid: $0) }) else {
            throw .notFound(.announcement)
        }
        return id
    }

    func user() throws(Rejection) -> UserID {
        guard let user = userIfValid else { throw .notFound(.user) }
        return user
    }

    /// The user of the session, or the one that the path names; `nil` for an invalid name.
    var userIfValid: UserID? { caller.user ?? parameters["user"].flatMap { UserID($0) } }
}

/// Tracks whether an answer holds a secret, such as a signed URL.
///
/// Such an answer is not compressed: it also holds text that clients choose, so the length of the compressed
/// answer would reveal the secret guess by guess (BREACH, H115).
final class SecretTracker: Sendable {
    private let hasSecret = Atomic(false)

    /// Records that a secret is written into the answer.
    func note() { hasSecret.store(true, ordering: .relaxed) }

    var containsSecret: Bool { hasSecret.load(ordering: .relaxed) }
}

extension RequestContext {
    /// Returns which contents the client wants in the answer itself (X8); `nil` for none.
    func inlinePreference() throws -> InlineContentPreference? {
        guard !query.isEmpty else { return nil }
        return try InlineContentPreference(query)
    }

    /// Returns the form in which the answer shows messages, with the contents that the client wants inlined.
    func presentation(
        _ perspective: Perspective, of messages: [Message],
        _ preference: InlineContentPreference?
    ) async -> Presentation {
        var presentation = presentation(perspective)
        guard let preference else { return presentation }
        for id in preference.contents(of: messages) {
            presentation.inlined[id] = await api.downloads.read(id.uuid) { bytes in
                // Encoded as JSON already, so that writing the answer only copies it.
                [UInt8(ascii: "\"")] + Base64.encodeToUTF8(bytes) + [UInt8(ascii: "\"")]
            }
        }
        return presentation
    }
}
