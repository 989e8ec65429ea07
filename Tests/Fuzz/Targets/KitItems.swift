import JSON
import Messaging
import MessagingWire

@testable import ParleyKit

/// Items and signals of the feed, and what a store keeps as JSON (K69).
enum KitItems {
    static func check(_ input: [UInt8]) {
        guard let root = (try? JSONDocument(input))?.root else { return }
        checkSignal(root)
        guard let item = try? FeedItemJSON.read(root), let data = root["data"] else { return }
        switch item {
        case .conversation(let id, let conversation?): check(id, conversation, data)
        case .receipts(_, _, let receipts): check(receipts)
        case .message(_, let message?):
            let sizes = message.snapshot.message.parts.map(\.size)
            invariant("the sizes of parts can be added", sizes.reduce(0, +) >= 0)
        default: return
        }
    }

    /// What a store computes with receipts, and with those that it has already.
    private static func check(_ receipts: Receipts) {
        let known = IntervalSet(1...5)
        for (some, others) in [(receipts.read, known), (known, receipts.read)] {
            let rest = some.subtracting(others)
            invariant(
                "a set is the rest and what both have",
                rest.union(some.intersection(others)) == some)
            invariant("both have as many numbers", rest.count <= some.count)
        }
    }

    private static func check(
        _ id: Messaging.Conversation.ID, _ conversation: ConversationJSON, _ data: JSONValue
    ) {
        if let feed = conversation.feedMembers {
            invariant(
                "its counts can be added",
                feed.totalCount + feed.unreadCount >= 0 && feed.top.number + 1 > 0)
        }
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
