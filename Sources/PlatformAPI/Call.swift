import HTTP
import Messaging
import MessagingShapes
import MessagingStore
import MessagingWire
import Uploads

/// One request past the gate: who asks, in which version, for what.
struct Call: Sendable {
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

extension Call {
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
