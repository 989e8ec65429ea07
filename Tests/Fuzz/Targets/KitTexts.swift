@testable import ParleyKit

/// Ids, positions and paths as texts, and the JSON of rows of a store (K69).
enum KitTexts {
    static func check(_ input: [UInt8]) {
        guard let text = String(validating: input, as: UTF8.self) else { return }
        checkID(ParleyKit.Conversation.ID(text))
        checkID(ParleyKit.Message.ID(text))
        checkID(ParleyKit.MessagePart.ID(text))
        if let position = FeedPosition(text) {
            invariant("a position has an epoch", !position.epoch.isEmpty)
            let short = FeedPosition("\(position.epoch).\(position.position)")
            invariant(
                "a cursor begins with its position",
                short?.epoch == position.epoch && short?.position == position.position)
            invariant("a position alone is whole", short?.isWhole == true)
        }
        if let path = try? MetadataPath(text) {
            invariant(
                "a path is its keys", path.keys.joined(separator: ".") == text && !path.keys.isEmpty
            )
        }
        let metadata = ParleyKit.Metadata(stored: text)
        invariant(
            "stored metadata are read again",
            ParleyKit.Metadata(stored: metadata.stored) == metadata)
        let error = ParleyError(stored: text)
        invariant("a stored error is read again", ParleyError(stored: error.stored) == error)
        _ = PushTarget(["layer": text])
    }

    private static func checkID<ID: ObjectIdentifier>(_ id: ID?) {
        guard let id else { return }
        invariant("an id is read again", ID(id.description) == id)
    }
}
