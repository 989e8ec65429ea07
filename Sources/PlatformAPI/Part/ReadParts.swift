import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET …/messages/{M}/parts` (platform-api §5.3).
    func listParts() async throws -> Reply {
        let shown = presentation(try perspective())
        let message = try await store.parts(of: message(), by: reach(), in: application)
        return reading(message.version) { Reply(.ok, json(message.parts, of: message, shown)) }
            .locating(partsOf: message, askedIn: try conversationIfNamed(), links)
    }

    /// `GET …/messages/{M}/parts/{P}`.
    func readPart() async throws -> Reply {
        let (shown, name) = (presentation(try perspective()), try part())
        let message = try await store.parts(of: message(), by: reach(), in: application)
        let part = try message.part(name)
        return reading(message.version) { Reply(.ok, json(part, of: message, shown)) }
            .locating(part, of: message, askedIn: try conversationIfNamed(), links, version)
    }

    /// Whose rights the path gives: those of the user it names, or of the system.
    func reach() throws(Rejection) -> MessageReach {
        parameters["user"] == nil ? .system(try conversation()) : .user(try user())
    }

    /// Whose view the path leads to.
    func perspective() throws(Rejection) -> LinkBuilder.Perspective {
        parameters["user"] == nil ? .system : .user(try user())
    }

    func json(
        _ parts: [MessagePart], of message: Message, _ presentation: Presentation
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        MessagePartsJSON.write(parts, of: message, presentation, into: &writer)
        return writer.finish()
    }

    func json(
        _ part: MessagePart, of message: Message, _ presentation: Presentation
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        MessagePartsJSON.write(part, of: message, presentation, into: &writer)
        return writer.finish()
    }
}
