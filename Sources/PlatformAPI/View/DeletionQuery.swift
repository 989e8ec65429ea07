import HTTP
import Messaging
import MessagingWire

/// From whose view a user deletes: `mode`, `leave` and the older `destroy` (client-api §4.1).
struct DeletionQuery: Sendable {
    /// Whether from everybody's.
    let isForAll: Bool
    private let leave: String?

    /// - Throws: `invalid("mode")` for another value than `all_participants` and `my_devices`,
    ///   `invalid("destroy")` for another one than `true` and `false`. Without `mode` it is `destroy=true` that
    ///   deletes for all.
    init(_ query: Query) throws(Rejection) {
        let destroys = try query.truth("destroy") ?? false
        switch query["mode"] {
        case nil: isForAll = destroys
        case "all_participants": isForAll = true
        case "my_devices": isForAll = false
        default: throw .invalid("mode", .deletionMode)
        }
        leave = query["leave"]
    }

    /// What it means for a conversation.
    ///
    /// - Throws: `invalid("leave")` for another value than `true` and `false`, where it counts.
    func ofConversation() throws(Rejection) -> Conversation.Deletion {
        guard !isForAll else { return .forAll }
        switch leave {
        case nil, "false": return .forMe
        case "true": return .leaving
        default: throw .invalid("leave", .deletionLeave)
        }
    }
}
