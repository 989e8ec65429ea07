import JSON
import Messaging
import MessagingWire

@testable import ParleyKit

/// Items and signals of the feed, and what a store keeps as JSON (K69).
enum KitItems {
    static func check(_ input: [UInt8]) {
        guard let root = (try? JSONDocument(input))?.root else { return }
        checkSignal(root)
        guard case .conversation(let id, let conversation?)? = try? FeedItemJSON.read(root),
            let data = root["data"]
        else { return }
        // The store keeps the bytes of a conversation and reads them again.
        let again = (try? JSONDocument(Array(data.raw))).flatMap { document in
            ConversationJSON.readFeed(document.root)
        }
        invariant("a stored conversation is read again", again != nil)
        invariant(
            "it has the same participants",
            again?.participants.map(\.userID) == conversation.participants.map(\.userID))
        invariant("its id is a UUID", ParleyKit.Conversation.ID(id.uuid)?.value == id)
        let metadata = ParleyKit.Metadata(conversation.metadata)
        invariant(
            "stored metadata are read again",
            ParleyKit.Metadata(stored: metadata.stored) == metadata)
    }

    private static func checkSignal(_ root: JSONValue) {
        guard case .typing(_, let user, _)? = Signal(root) else { return }
        invariant(
            "a signal names its user", root["data"]?["sender"]?["user_id"]?.string == user.text)
    }
}
