import HTTP
import Messaging
import MessagingWire

extension Reply {
    /// Names the winner in `Content-Location` when another id was asked for (X1.2, ruling 13).
    func locating(
        _ conversation: Conversation.ID, askedAs asked: Conversation.ID?, _ links: LinkBuilder
    ) -> Reply {
        located(in: conversation, askedIn: asked) { links.location(ofConversation: conversation) }
    }

    /// The same for a message, which is where its conversation is.
    func locating(
        _ message: Message, askedIn asked: Conversation.ID?, _ links: LinkBuilder
    ) -> Reply {
        locating(message.id, in: message.conversation, askedIn: asked, links)
    }

    /// The same for one that is no more.
    func locating(
        _ message: Message.ID, in conversation: Conversation.ID, askedIn asked: Conversation.ID?,
        _ links: LinkBuilder
    ) -> Reply {
        located(in: conversation, askedIn: asked) {
            links.location(ofMessage: message, in: conversation)
        }
    }

    /// The same for its parts, all of them.
    func locating(
        partsOf message: Message, askedIn asked: Conversation.ID?, _ links: LinkBuilder
    ) -> Reply {
        located(in: message.conversation, askedIn: asked) { links.location(ofPartsOf: message) }
    }

    /// The same for a part, which is where its message is.
    func locating(
        _ part: MessagePart, of message: Message, askedIn asked: Conversation.ID?,
        _ links: LinkBuilder, _ version: APIVersion
    ) -> Reply {
        located(in: message.conversation, askedIn: asked) {
            links.location(ofPart: part, of: message, version)
        }
    }

    /// The same for a content, which is where its conversation is.
    func locating(
        _ content: Messaging.Content.ID, in conversation: Conversation.ID,
        askedIn asked: Conversation.ID, _ links: LinkBuilder
    ) -> Reply {
        located(in: conversation, askedIn: asked) {
            links.location(ofContent: content, in: conversation)
        }
    }

    /// - Parameter asked: `nil` where the path names no conversation.
    private func located(
        in conversation: Conversation.ID, askedIn asked: Conversation.ID?, _ place: () -> String
    ) -> Reply {
        guard let asked, asked != conversation else { return self }
        return adding("Content-Location", place())
    }
}
