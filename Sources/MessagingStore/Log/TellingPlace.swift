public import Messaging

/// How far somebody has been told of a log.
///
/// In webhooks of version 1.0 a receipt is told of each message it is for, which may be a million: so a
/// place can be within an event.
public struct TellingPlace: Equatable, Sendable {
    /// Every event up to here is told of.
    public let after: LogPosition
    /// Of the event behind that, the messages up to here; `.start` while it is not begun.
    public let within: Position

    /// A place behind an event, or within the next one.
    public init(after: LogPosition, within: Position = .start) {
        self.after = after
        self.within = within
    }
}
