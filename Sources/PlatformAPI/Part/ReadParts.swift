import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET …/messages/{M}/parts` (platform-api §5.3).
    func listParts() async throws -> Reply {
        let asked = try conversation()
        let message = try await store.parts(of: message(), in: asked, in: application)
        return reading(message.version) { Reply(.ok, json(message.parts, of: message)) }
            .locating(message, askedIn: asked, links)
    }

    /// `GET …/messages/{M}/parts/{P}`.
    func readPart() async throws -> Reply {
        let (asked, id, name) = (try conversation(), try message(), try part())
        let message = try await store.parts(of: id, in: asked, in: application)
        let part = try message.part(name)
        return reading(message.version) { Reply(.ok, json(part, of: message)) }
            .locating(part, of: message, askedIn: asked, links, version)
    }

    /// Parts as the system sees them.
    func json(_ parts: [MessagePart], of message: Message) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        MessagePartsJSON.write(parts, of: message, presentation(), into: &writer)
        return writer.finish()
    }

    /// One part as the system sees it.
    func json(_ part: MessagePart, of message: Message) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        MessagePartsJSON.write(part, of: message, presentation(), into: &writer)
        return writer.finish()
    }
}
