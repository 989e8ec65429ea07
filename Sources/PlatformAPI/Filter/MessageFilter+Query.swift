import Messaging
import MessagingWire

extension Query {
    /// The event after which a list is shown as it was; the list has no filters then.
    func asOf(_ filter: MessageFilter) throws(Rejection) -> LogPosition? {
        let position = try asOf()
        guard position == nil || filter.isEmpty else {
            throw .invalid("as_of", .logPositionWithFilters)
        }
        return position
    }
}

extension MessageFilter {
    /// Reads the filters of a list of messages (X9).
    ///
    /// - Throws: `invalid` with the name of a parameter that has a bad value.
    init(_ query: Query, _ version: APIVersion) throws(Rejection) {
        self.init()
        sender = try query.user("sender", version)
        if let text = query["mime_type"] {
            guard let range = MediaRange(text) else { throw .invalid("mime_type", .mediaRange) }
            media = range
        }
        if let text = query["transfer_status"] {
            guard let status = TransferStatus(rawValue: text) else {
                throw .invalid("transfer_status", .transferStatus)
            }
            transfer = status
        }
        sentAfter = try query.time("sent_after")
        sentBefore = try query.time("sent_before")
        unreadBy = try query.user("unread_by", version)
    }
}
