internal import Messaging
public import MessagingStore
public import MessagingWire

extension MessageJSON {
    /// A message with what the store knows of the users it mentions.
    public init(_ snapshot: MessageSnapshot) {
        self.init(
            snapshot.message, sender: snapshot.sender,
            recipientStatus: snapshot.recipients.map { entry in (entry.userID, entry.status) },
            isUnread: snapshot.isUnread, receivedAt: snapshot.receivedAt)
    }
}
