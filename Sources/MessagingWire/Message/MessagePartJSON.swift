import Base64
import JSON
import Messaging

/// One part of a message (platform-api §3.4).
enum MessagePartJSON {
    // MARK: - Reading

    /// Reads the member `parts`: 1 to 1000 of them.
    static func list(_ body: JSONValue) throws(Rejection) -> [MessagePart.Draft] {
        guard let value = body.present("parts") else { throw .missing("parts") }
        guard value.kind == .array, (1...Message.partLimit).contains(value.count) else {
            let count = value.kind == .array ? value.count : nil
            throw .invalid("parts", .partCount, .init(amount: count))
        }
        var parts: [MessagePart.Draft] = []
        for element in value.elements { parts.append(try read(element)) }
        return parts
    }

    /// Reads a part to be made: `mime_type` first, then `body` and `encoding`, or `content`, at last
    /// the id its caller chose; an index names no new part.
    static func read(_ part: JSONValue) throws(Rejection) -> MessagePart.Draft {
        let draft = try draft(part)
        switch try name(part) {
        case nil: return draft
        case .id(let id)?:
            return try MessagePart.Draft(
                mimeType: draft.mimeType, body: draft.body, proposedID: id)
        case .index?: throw .invalid("parts.id", .newPartIndex)
        }
    }

    /// Reads what a part holds, and not how it is called.
    static func draft(_ part: JSONValue) throws(Rejection) -> MessagePart.Draft {
        guard part.kind == .object else { throw .invalid("parts", .partObject) }
        guard let type = part.present("mime_type") else { throw .missing("parts.mime_type") }
        guard let mimeType = type.string else { throw .invalid("parts.mime_type", .partType) }
        // The type is judged before anybody looks for a body (ruling 1).
        _ = try MessagePart.Draft(mimeType: mimeType, body: .inline([]))
        return try MessagePart.Draft(mimeType: mimeType, body: body(of: part))
    }

    /// Content wins over a body (platform-api §3.4).
    private static func body(of part: JSONValue) throws(Rejection) -> MessagePart.Body {
        if let content = part.present("content") { return try ContentJSON.read(content) }
        guard let value = part.present("body") else { throw .missing("parts.body") }
        guard let text = value.utf8 else { throw .invalid("parts.body", .partBody) }
        guard let encoding = part.present("encoding") else { return .inline(Array(text)) }
        guard encoding.string == "base64" else { throw .invalid("parts.encoding", .partEncoding) }
        guard let bytes = Base64.decodeMIME(text) else { throw .invalid("parts.body", .partBase64) }
        return .inline(bytes)
    }

    /// The member `id`: a UUID or an index, alone or as the last element of a part's URI.
    static func name(_ part: JSONValue) throws(Rejection) -> MessagePart.Name? {
        guard let value = part.present("id") else { return nil }
        guard let text = value.string, let last = text.split(separator: "/").last,
            text.utf8.count == last.utf8.count || text.hasPrefix("layer:///messages/"),
            let name = MessagePartsJSON.name(last)
        else { throw .invalid("parts.id", .partID) }
        return name
    }

    // MARK: - Writing

    /// Writes a part.
    ///
    /// The server keeps bytes: what is UTF-8 goes out as text, even when it came as base64, and only
    /// other bytes go out as base64 (platform-api §3.4, recorded).
    ///
    /// - Parameter messageURL: The URL of its message in this perspective.
    static func write(
        _ part: MessagePart, of message: Message, _ messageURL: String,
        _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", id(of: part, of: message, presentation.version))
            if presentation.version == .v3_0 {
                writer.member("url", presentation.links.part(part.id, of: messageURL))
                writer.member("message_url", messageURL)
            }
            writer.member("mime_type", part.mimeType)
            switch part.body {
            case .inline(let bytes): write(bytes, into: &writer)
            case .content(let id, let size):
                write(inlined: presentation.inlined[id], into: &writer)
                writer.key("content")
                let content = ContentJSON(id: id, size: size, in: message.conversation)
                content.write(presentation.links, presentation.sign(id), into: &writer)
            }
            if presentation.version == .v3_0 {
                writer.member("updated_at", part.updatedAt.map(TimestampJSON.text))
            }
        }
    }

    /// `…/parts/{index}` up to 2.0, `…/parts/{uuid}` in 3.0 (platform-api §1.3).
    private static func id(
        of part: MessagePart, of message: Message, _ version: APIVersion
    ) -> String {
        let name = MessagePartsJSON.name(of: part, version)
        return String(pieces: IdentifierJSON.text(message.id, in: .messages), "/parts/", name)
    }

    /// What a reader wants to have beside the content (X8): always base64, whatever the bytes are.
    private static func write(inlined body: [UInt8]?, into writer: inout JSONWriter) {
        writer.key("body")
        if let body { writer.raw(body) } else { writer.null() }
        writer.member("encoding", body == nil ? nil : "base64")
    }

    /// Writes `body`, `encoding` and `content` of bytes that are in the message.
    static func write(_ bytes: [UInt8], into writer: inout JSONWriter) {
        let isText = writeBody(bytes, into: &writer)
        if isText { writer.member("encoding", nil) }
        writer.member("content", nil)
    }

    /// Writes the body, and its encoding unless it is text.
    ///
    /// - Returns: Whether it is text.
    @discardableResult
    static func writeBody(_ bytes: [UInt8], into writer: inout JSONWriter) -> Bool {
        writer.key("body")
        let isText = UTF8.isValid(bytes)
        if isText {
            writer.string(utf8: bytes)
        } else {
            writer.string(utf8: Base64.octets(bytes))
            writer.member("encoding", "base64")
        }
        return isText
    }
}

extension UTF8 {
    fileprivate static func isValid(_ bytes: [UInt8]) -> Bool {
        (try? UTF8Span(validating: bytes.span)) != nil
    }
}
