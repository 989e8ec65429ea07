import Bytes
import HTTP
import Messaging
import MessagingStore
import MessagingWire
import Synchronization
import Uploads

/// One request past the gate: who asks, in which version, for what.
struct RequestContext: Sendable {
    let api: PlatformAPI
    /// Where everything is; for a request with a key one transaction in it (X2).
    var store: MessagingStore
    let request: Request
    let parameters: PathParameters
    /// The query parameters that the endpoint declares.
    let query: Query
    let version: APIVersion
    let application: Application.ID
    /// With which credential.
    let token: Token
    /// The key under which a repeat of this creation is recognised; `nil` for none.
    let key: Replay.Key?
    /// What the answer must not be compressed with.
    let secrets: Secrets

    /// What the URLs in the answer begin with.
    var publicBase: String { api.publicBase.of(request) }

    /// The URLs of the system's perspective.
    var links: LinkBuilder { links(.system) }

    func links(_ perspective: LinkBuilder.Perspective) -> LinkBuilder {
        LinkBuilder(
            publicBase: publicBase, application: application, perspective: perspective)
    }

    /// How answers show objects to this caller.
    ///
    /// - Parameter saving: Browsers save what the download URLs open, also what they could show.
    func presentation(
        _ perspective: LinkBuilder.Perspective = .system, saving: Bool = false
    ) -> Presentation {
        let sign = api.downloads.signing(at: api.clock(), saving: saving, for: request)
        let secrets = secrets
        return Presentation(
            version: version,
            links: links(perspective),
            sign: { id in
                secrets.note()
                return sign(id)
            })
    }
}

// MARK: - Names in the path

extension RequestContext {
    /// A malformed UUID names nothing (ruling 7).
    func conversation() throws(Rejection) -> Conversation.ID {
        guard let id = parameters["conversation"].flatMap({ Conversation.ID(uuid: $0) }) else {
            throw .notFound(.conversation)
        }
        return id
    }

    /// The conversation, where the path names one; the short address of a message does not.
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

    /// A user id of more than 128 characters names nobody.
    func user() throws(Rejection) -> UserID {
        guard let user = parameters["user"].flatMap({ UserID($0) }) else {
            throw .notFound(.user)
        }
        return user
    }
}

/// Whether an answer holds a secret: a signed URL opens a content to whoever reads it.
///
/// Beside it stands text that callers chose, so the length of a compressed answer would tell of the
/// URL, guess by guess (BREACH, H115). Such an answer is sent as it is.
final class Secrets: Sendable {
    private let told = Atomic(false)

    /// Notes that a secret is written into the answer.
    func note() { told.store(true, ordering: .relaxed) }

    /// Whether one was.
    var areTold: Bool { told.load(ordering: .relaxed) }
}

extension RequestContext {
    /// Which contents this request wants in the answer itself (X8); a request without a query, as
    /// almost all are, is not looked at closer.
    func inlinePolicy() throws -> InlineContentPreference? {
        guard !query.isEmpty else { return nil }
        return try InlineContentPreference(query)
    }

    /// How an answer shows messages, with the contents its reader wants in it.
    func presentation(
        _ perspective: LinkBuilder.Perspective, of messages: [Message],
        _ policy: InlineContentPreference?
    ) async -> Presentation {
        var presentation = presentation(perspective)
        guard let policy else { return presentation }
        for id in policy.contents(of: messages) {
            presentation.inlined[id] = await api.downloads.read(id.uuid) { bytes in
                // As JSON, so that the loop has but to copy it.
                [UInt8(ascii: "\"")] + Base64.encodeToUTF8(bytes) + [UInt8(ascii: "\"")]
            }
        }
        return presentation
    }
}
