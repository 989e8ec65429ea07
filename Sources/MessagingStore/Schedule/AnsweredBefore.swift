public import Messaging

/// What a key made is answered as the first time: accepted, without a message to show.
///
/// A scheduled message, sent by now or not, and a batch are (platform-api §1.9, rule 3). Thrown, so
/// that nothing else is done and whoever asks to send need not know of schedules.
public struct AnsweredBefore: Error, Equatable, Sendable {
    /// Where it went.
    public let conversation: Conversation.ID
}
