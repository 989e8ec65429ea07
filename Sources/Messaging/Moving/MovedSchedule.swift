/// A message that waits to be sent, with the contents it will attach.
public struct MovedSchedule: Equatable, Sendable {
    /// The message.
    public let message: ScheduledMessage
    /// The contents of its parts, each once, in the order of the parts.
    public let contents: [MovedContent]

    /// A message as stored.
    public init(_ message: ScheduledMessage, contents: [MovedContent] = []) {
        self.message = message
        self.contents = contents
    }

    /// The same message for another conversation, which its contents follow.
    public func moved(to home: Conversation.ID) -> MovedSchedule {
        MovedSchedule(
            ScheduledMessage(
                id: message.id, conversation: home, draft: message.draft, dueAt: message.dueAt,
                typingFrom: message.typingFrom),
            contents: contents.map { content in
                content.moved(from: message.conversation, to: home)
            })
    }
}
