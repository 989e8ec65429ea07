public import JSON
public import Messaging

/// Parts on their own, outside a message (platform-api §5.3).
public enum MessagePartsJSON {
    // MARK: - Reading

    /// Reads a part to add; an index names no new one.
    ///
    /// - Throws: The first problem, named as in a message (rulings 5).
    public static func draftToAdd(_ body: JSONValue) throws(Rejection) -> MessagePart.Draft {
        try MessagePartJSON.read(body)
    }

    /// Reads what a part shall hold; it keeps its names, whatever the body calls it.
    public static func draft(_ body: JSONValue) throws(Rejection) -> MessagePart.Draft {
        try MessagePartJSON.draft(body)
    }

    /// Reads the parts that replace all others, 1 to 1000.
    public static func all(_ body: JSONValue) throws(Rejection) -> PartOperation {
        guard (1...Message.partLimit).contains(body.count) else {
            throw .invalid("parts", .partCount, .init(amount: body.count))
        }
        var parts: [PartOperation.Replacement] = []
        for element in body.elements {
            let draft = try MessagePartJSON.draft(element)
            parts.append(.init(name: try MessagePartJSON.name(element), draft: draft))
        }
        return .replaceAll(parts)
    }

    /// Reads a part's name in a path: a UUID, or its creation number in decimal digits.
    public static func name(_ text: some StringProtocol) -> MessagePart.Name? {
        if let id = MessagePart.ID(uuid: text) { return .id(id) }
        let digits = text.utf8
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        return Int(text).map(MessagePart.Name.index)
    }

    // MARK: - Writing

    /// Writes one part as a message would show it.
    public static func write(
        _ part: MessagePart, of message: Message, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        MessagePartJSON.write(
            part, of: message, presentation.links.message(message.id, in: message.conversation),
            presentation, into: &writer)
    }

    /// Writes a list of parts.
    public static func write(
        _ parts: [MessagePart], of message: Message, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        writer.array { writer in
            for part in parts { write(part, of: message, presentation, into: &writer) }
        }
    }

    /// The last element of a part's id and URL: `{index}` up to 2.0, the UUID in 3.0 (platform-api §1.3).
    public static func name(of part: MessagePart, _ version: APIVersion) -> String {
        version == .v3_0 ? part.id.uuid : String(part.index)
    }
}
