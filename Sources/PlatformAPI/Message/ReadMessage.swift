import HTTP
import JSON
import Messaging
import MessagingShapes
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /conversations/{C}/messages/{M}`, and by its short address (platform-api §5.2.4).
    func readMessage() async throws -> Reply {
        let (policy, showsTransfer) = (try inlinePolicy(), try showsTransfer())
        let conversation = try conversationIfNamed()
        if let position = try query.asOf() {
            let found = try await store.message(
                message(), asOf: position, in: conversation, in: application)
            var presentation = await presentation(.system, of: [found.message], policy)
            presentation.showsTransfer = showsTransfer
            return reading(found.message.version) { Reply(.ok, json(found, presentation)) }
                .locating(found.message, askedIn: conversation, links)
        }
        let (found, basis) = try await store.messageWithBasis(
            message(), seenBy: nil, in: conversation, in: application)
        var presentation = await presentation(.system, of: [found.message], policy)
        presentation.showsTransfer = showsTransfer
        return reading(found.message.version) {
            let json = json(found, presentation)
            remember(found, as: json, nil, basis)
            return Reply(.ok, json)
        }.locating(found.message, askedIn: conversation, links)
    }

    /// The same from memory.
    func recallMessage() -> Reply? {
        guard let asked = try? conversationIfNamed() as Conversation.ID??,
            let known = recallMessage(seenBy: nil),
            asked ?? known.conversation == known.conversation
        else { return nil }
        return reading(known.version) { Reply(.ok, known.json) }
    }

    /// A message as the system sees it.
    func json(_ message: MessageSnapshot, isJustSent: Bool = false) -> [UInt8] {
        json(message, presentation(), isJustSent: isJustSent)
    }

    /// A message as somebody sees it.
    func json(
        _ message: MessageSnapshot, _ presentation: Presentation, isJustSent: Bool = false
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        MessageJSON(message).write(presentation, isJustSent: isJustSent, into: &writer)
        return writer.finish()
    }

    /// What is remembered of the message the path names; `nil` as well for a request that asks for
    /// more than the message.
    func recallMessage(seenBy user: UserID?) -> MessageMemory.Kept? {
        guard query.isEmpty, let id = try? message() else { return nil }
        return api.memory.recall(memoryKey(id, user), from: store)
    }

    /// Remembers what was answered, unless more was asked for or it holds links that expire.
    func remember(
        _ found: MessageSnapshot, as json: [UInt8], _ user: UserID?, _ basis: MessageBasis
    ) {
        let message = found.message
        guard query.isEmpty,
            message.parts.allSatisfy({ part in part.body.isInline })
        else { return }
        api.memory.keep(
            MessageMemory.Kept(
                conversation: message.conversation, version: message.version, json: json,
                basis: basis),
            of: memoryKey(message.id, user))
    }

    private func memoryKey(_ message: Message.ID, _ user: UserID?) -> MessageMemory.Key {
        MessageMemory.Key(
            application: application, message: message, viewer: user, version: version,
            base: api.publicBase.forwarded(by: request))
    }
}

extension MessagePart.Body {
    /// Whether its octets are in the message.
    fileprivate var isInline: Bool {
        if case .inline = self { true } else { false }
    }
}
