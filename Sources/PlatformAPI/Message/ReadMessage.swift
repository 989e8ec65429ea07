import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /conversations/{C}/messages/{M}`, and by its short address (platform-api §5.2.4).
    func readMessage() async throws -> Reply {
        let policy = try inlinePolicy()
        let conversation = try conversationIfNamed()
        let found = try await store.message(message(), in: conversation, in: application)
        let presentation = await presentation(.system, of: [found.message], policy)
        return reading(found.message.version) { Reply(.ok, json(found, presentation)) }
            .locating(found.message, askedIn: conversation, links)
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
}
