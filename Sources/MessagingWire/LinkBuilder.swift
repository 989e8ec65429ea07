public import Messaging

/// Builds every URL in responses below the public base (platform-api §1.1).
///
/// Clients send follow-up requests to these URLs unchanged.
public struct LinkBuilder: Sendable {
    /// `BASE` itself.
    private let base: String
    /// The root of the URLs: `BASE/apps/{APP}` for the application, `BASE` for the user of a session.
    private let root: String
    /// `layer:///apps/{APP}`.
    let applicationID: String
    /// Whether the URLs are those of the Client API, which do not name the application (client-api §3).
    let omitsApplication: Bool
    /// The path of ``root``, without `BASE`.
    private let relativeRoot: String
    /// The root of the perspective: that of the application, or of one of its users.
    private let view: String
    /// The path of ``view``, without `BASE`.
    private let relativeView: String
    /// The perspective of the URLs.
    let perspective: Perspective

    /// Creates a builder for one application.
    ///
    /// - Parameters:
    ///   - publicBase: Scheme, host and optionally a path; trailing slashes are ignored.
    ///   - omitsApplication: Whether the URLs are those of the Client API, which name neither the application nor the
    ///     user of the session (client-api §3).
    public init(
        publicBase: String, application: Application.ID, perspective: Perspective = .system,
        omitsApplication: Bool = false
    ) {
        var trimmed = publicBase[...]
        while trimmed.last == "/" { trimmed.removeLast() }
        let base = String(trimmed)
        self.base = base
        let path = "/apps/\(application.uuid)"
        applicationID = "layer://\(path)"
        self.omitsApplication = omitsApplication
        relativeRoot = omitsApplication ? "" : path
        root = "\(base)\(relativeRoot)"
        self.perspective = perspective
        switch perspective {
        case .user(let user) where !omitsApplication:
            relativeView = "\(path)/users/\(URIComponent.encoded(user.text))"
        case .system, .user: relativeView = relativeRoot
        }
        view = "\(base)\(relativeView)"
    }

    /// The URL of a conversation in this perspective.
    public func conversation(_ id: Conversation.ID) -> String {
        String(pieces: view, "/conversations/", id.uuid)
    }

    /// The URL of a message: for the system below its conversation, for a user below the user.
    public func message(_ id: Message.ID, in conversation: Conversation.ID) -> String {
        String(pieces: messages(in: conversation), id.uuid)
    }

    /// The URL of a message of a conversation up to its id.
    func messages(in conversation: Conversation.ID) -> String {
        switch perspective {
        case .system: String(pieces: self.conversation(conversation), "/messages/")
        case .user: String(pieces: view, "/messages/")
        }
    }

    /// The URL of a message that 1.x shows in the answer to a `POST`, and nowhere else (platform-api §1.7).
    public func shortMessage(_ id: Message.ID) -> String {
        "\(root)/messages/\(id.uuid)"
    }

    /// The URL of an announcement in this perspective.
    public func announcement(_ id: Announcement.ID) -> String {
        "\(view)/announcements/\(id.uuid)"
    }

    /// The URL that returns a new `download_url`: for the system below the conversation, if the content belongs to one.
    public func content(_ id: Content.ID, in conversation: Conversation.ID?) -> String {
        switch (perspective, conversation) {
        case (.system, let conversation?): "\(self.conversation(conversation))/content/\(id.uuid)"
        case (.system, nil), (.user, _): "\(view)/content/\(id.uuid)"
        }
    }

    /// The URL of the status of an export.
    public func status(of export: Export.ID) -> String {
        "\(root)/exports/\(export.uuid)/status"
    }

    /// The URL of an erasure.
    public func erasure(_ id: Erasure.ID) -> String { "\(root)/erasures/\(id.uuid)" }

    /// The URL of a user's identity: in the form recorded from the original 3.0 (platform-api §1.7), on the Client API
    /// `BASE/identities/{user}` (client-api §4.6).
    public func identity(_ user: UserID) -> String {
        omitsApplication
            ? webhookIdentity(user)
            : String(pieces: root, "/users/", URIComponent.encoded(user.text), "/identity")
    }

    /// The long form of a webhook's id: `layer:///apps/{uuid}/webhooks/{uuid}`.
    func webhookID(_ id: Webhook.ID) -> String { "\(applicationID)/webhooks/\(id.uuid)" }

    /// The URL of a webhook.
    public func webhook(_ id: Webhook.ID) -> String { "\(root)/webhooks/\(id.uuid)" }

    /// The URL of a user's identity in webhooks from 2.0 on (webhooks §4.1).
    func webhookIdentity(_ user: UserID) -> String {
        String(pieces: root, "/identities/", URIComponent.encoded(user.text))
    }

    /// The URL of a part in webhooks from 2.0 on, which does not name the application (webhooks §4.1).
    func webhookPart(_ part: MessagePart.ID, of message: Message.ID) -> String {
        String(pieces: base, "/messages/", message.uuid, "/parts/", part.uuid)
    }

    /// The URL of a page of a list.
    ///
    /// - Parameters:
    ///   - path: The segments below the application, not encoded.
    ///   - query: The parameters, not encoded.
    public func list(_ path: [String], _ query: [(name: String, value: String)]) -> String {
        "\(root)\(Self.below(path, query))"
    }

    private static func below(
        _ path: [String], _ query: [(name: String, value: String)]
    ) -> String {
        let path = path.map { segment in "/\(URIComponent.encoded(segment))" }.joined()
        let query = query.map { parameter in
            "\(URIComponent.encoded(parameter.name))=\(URIComponent.encoded(parameter.value))"
        }
        return query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))"
    }

    // MARK: - `Location` headers, relative as the original service writes them (platform-api §5.1.1)

    /// `Content-Location` of a page of a list; path and query as in ``list(_:_:)``.
    public func location(
        ofList path: [String], _ query: [(name: String, value: String)]
    ) -> String {
        "\(relativeRoot)\(Self.below(path, query))"
    }

    /// `Location` of a conversation.
    public func location(ofConversation id: Conversation.ID) -> String {
        "\(relativeView)/conversations/\(id.uuid)"
    }

    /// `Location` of a message.
    public func location(
        ofMessage id: Message.ID, in conversation: Conversation.ID
    ) -> String {
        switch perspective {
        case .system: "\(location(ofConversation: conversation))/messages/\(id.uuid)"
        case .user: "\(relativeView)/messages/\(id.uuid)"
        }
    }

    /// `Content-Location` of all parts of a message.
    public func location(ofPartsOf message: Message) -> String {
        "\(location(ofMessage: message.id, in: message.conversation))/parts"
    }

    /// `Location` of a part, by the id or index that the version uses.
    public func location(
        ofPart part: MessagePart, of message: Message, _ version: APIVersion
    ) -> String {
        "\(location(ofPartsOf: message))/\(MessagePartsJSON.name(of: part, version))"
    }

    /// `Location` of a message just sent in 1.x.
    public func location(ofShortMessage id: Message.ID) -> String {
        "\(relativeView)/messages/\(id.uuid)"
    }

    /// `Location` of an announcement.
    public func location(ofAnnouncement id: Announcement.ID) -> String {
        "\(relativeView)/announcements/\(id.uuid)"
    }

    /// `Location` of a content that belongs to no conversation yet.
    public func location(ofContent id: Content.ID) -> String {
        "\(relativeView)/content/\(id.uuid)"
    }

    /// `Location` of a content.
    public func location(ofContent id: Content.ID, in conversation: Conversation.ID) -> String {
        "\(location(ofConversation: conversation))/content/\(id.uuid)"
    }
}
