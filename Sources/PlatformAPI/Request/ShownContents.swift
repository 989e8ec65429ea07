public import HTTP
public import Messaging
import MessagingWire

/// The messages whose contents an answer to the console may show.
public struct ShownContents: Sendable {
    /// The application of the request.
    public let application: Application.ID
    /// The conversation that the path names; `nil` for messages of any conversation.
    public let conversation: Conversation.ID?
    /// Whether the path names a message, and the answer its conversation.
    public let isOfMessage: Bool
}

extension PlatformAPI {
    /// The contents that the answer to a request may show; `nil` for none.
    ///
    /// The template of the endpoint decides, because a user id may be any text.
    public func shownContents(by request: Request) -> ShownContents? {
        guard
            case .found(let endpoint, _, let parameters) = match(request),
            let scope = endpoint.contentScope,
            let application = parameters["app"].flatMap({ Application.ID(uuid: $0) })
        else { return nil }
        return ShownContents(
            application: application,
            conversation: scope == .conversation
                ? parameters["conversation"].flatMap { Conversation.ID(uuid: $0) } : nil,
            isOfMessage: scope == .message)
    }
}

extension Endpoint {
    enum ContentScope {
        case conversation, message, application
    }

    /// The part of the application whose contents the answer shows; `nil` for none. The views of users show their
    /// conversations with the last message.
    var contentScope: ContentScope? {
        guard method == .get, family != .client else { return nil }
        let path = path.description.split(separator: "/").dropFirst(2).map(String.init)
        if path.contains("{conversation}") {
            let isView = path.first == "users" && path.last == "{conversation}"
            return isView || path.contains("messages") || path.contains("content")
                ? .conversation : nil
        }
        if path.contains("{message}") { return .message }
        let ends = [
            "events", "export", "conversations", "announcements", "{announcement}", "{content}",
            "{delivery}",
        ]
        return ends.contains(path.last ?? "") && path != ["conversations"] ? .application : nil
    }
}
