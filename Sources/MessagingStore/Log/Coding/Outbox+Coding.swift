import Messaging

extension ScheduledMessage {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(conversation)
        draft.write(to: &writer)
        writer.write(dueAt)
        writer.write(optional: typingFrom) { writer, moment in writer.write(moment) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(), conversation: try reader.id(),
            draft: try Message.Draft(from: &reader), dueAt: try reader.timestamp(),
            typingFrom: try reader.optional { reader in try reader.timestamp() })
    }
}

extension Message.Draft {
    fileprivate func write(to writer: inout ByteWriter) {
        sender.write(to: &writer)
        switch admission {
        case .participants: writer.write(true)
        case .identities: writer.write(false)
        }
        writer.write(senderProperty)
        writer.write(each: parts) { writer, part in part.write(to: &writer) }
        writer.write(optional: notification) { writer, json in writer.write(json) }
        writer.write(optional: proposedID) { writer, id in writer.write(id) }
    }

    /// - Throws: ``StoreFault/unreadable(_:)`` also for an invalid draft, because only valid ones are stored.
    fileprivate init(from reader: inout ByteReader) throws {
        let sender = try Sender(from: &reader)
        let admission: Admission = try reader.flag() ? .participants : .identities
        let senderProperty = try reader.text()
        let parts = try reader.each { reader in try MessagePart.Draft(from: &reader) }
        let notification = try reader.optional { reader in try reader.bytes() }
        let id: Message.ID? = try reader.optional { reader in try reader.id() }
        do throws(Rejection) {
            try self.init(
                sender: sender, admission: admission, senderProperty: senderProperty,
                parts: parts, notification: notification, proposedID: id)
        } catch {
            throw StoreFault.unreadable("draft of a message")
        }
    }
}

extension MessagePart.Draft {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(mimeType)
        body.write(to: &writer)
        writer.write(optional: proposedID) { writer, id in writer.write(id) }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        let mimeType = try reader.text()
        let body = try MessagePart.Body(from: &reader)
        let id: MessagePart.ID? = try reader.optional { reader in try reader.id() }
        do throws(Rejection) {
            try self.init(mimeType: mimeType, body: body, proposedID: id)
        } catch {
            throw StoreFault.unreadable("part of a message")
        }
    }
}
