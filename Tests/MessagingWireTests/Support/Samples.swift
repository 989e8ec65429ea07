import JSON
import Messaging
import MessagingWire

/// Objects with fixed ids for golden text.
enum Sample {
    static let application = id("7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55", of: Application.self)
    static let conversation = id("0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a", of: Conversation.self)
    static let message = id("a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d", of: Message.self)
    static let part = id("5e8d7c6b-4a39-4821-b7f6-0c9d8e7f6a5b", of: MessagePart.self)
    static let content = id("9c1b7d5e-2f40-4e6a-8b3c-d4e5f6a7b8c9", of: Content.self)
    static let moment = Timestamp(milliseconds: 1_772_356_530_042)
    static let base = "https://chat.example.com/"
    static let root = "https://chat.example.com/apps/7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"

    static func presentation(
        _ version: APIVersion, _ perspective: Perspective = .system
    ) -> Presentation {
        Presentation(
            version: version,
            links: LinkBuilder(
                publicBase: base, application: application, perspective: perspective),
            sign: { content in ("signed:\(content)", moment.milliseconds) })
    }

    /// A message with one inline part.
    static func message(
        _ bytes: [UInt8], by sender: Sender, mimeType: String = "text/plain"
    ) -> Message {
        Message(
            id: message, conversation: conversation, position: Position(3), sender: sender,
            sentAt: moment,
            parts: [MessagePart(id: part, index: 7, mimeType: mimeType, body: .inline(bytes))])
    }

    private static func id<Subject>(
        _ uuid: StaticString, of: Subject.Type
    ) -> Identifier<Subject> {
        Identifier(uuid: uuid.description) ?? .v7(at: moment, random: 0)
    }
}

/// The JSON text that a shape writes.
func text(_ write: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    write(&writer)
    return String(decoding: writer.finish(), as: UTF8.self)
}

extension MessageJSON {
    /// A message with the status of each recipient.
    init(
        _ message: Message, sender: BasicIdentity?,
        recipientStatus: [(user: UserID, status: RecipientStatus)], isUnread: Bool? = nil
    ) {
        self.init(
            MessageSnapshot(
                message: message, sender: sender,
                recipients: recipientStatus.map { entry in
                    MessageSnapshot.Recipient(userID: entry.user, status: entry.status)
                }, isUnread: isUnread, receivedAt: nil))
    }
}
