import Bytes
public import JSON
public import Messaging

/// One part of a message (platform-api §3.4).
enum MessagePartJSON {
    // MARK: - Reading

    /// Reads the member `parts`: 1 to 1000 parts.
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

    /// Reads a new part: `mime_type`, then `content` or `body` with `encoding`, then the proposed `id`, which must not
    /// be an index.
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

    /// Reads the type and the body of a part, without its `id`.
    static func draft(_ part: JSONValue) throws(Rejection) -> MessagePart.Draft {
        guard part.kind == .object else { throw .invalid("parts", .partObject) }
        guard let type = part.present("mime_type") else { throw .missing("parts.mime_type") }
        guard let mimeType = type.string else { throw .invalid("parts.mime_type", .partType) }
        // The type is validated before the body (ruling 1).
        _ = try MessagePart.Draft(mimeType: mimeType, body: .inline([]))
        return try MessagePart.Draft(mimeType: mimeType, body: body(of: part))
    }

    /// Reads the body; `content` takes precedence over `body` (platform-api §3.4).
    private static func body(of part: JSONValue) throws(Rejection) -> MessagePart.Body {
        if let content = part.present("content") { return try ContentJSON.read(content) }
        guard let value = part.present("body") else { throw .missing("parts.body") }
        guard let text = value.utf8 else { throw .invalid("parts.body", .partBody) }
        guard let encoding = part.present("encoding") else { return .inline(Array(text)) }
        guard encoding.string == "base64" else { throw .invalid("parts.encoding", .partEncoding) }
        guard let bytes = Base64.decodeMIME(text) else { throw .invalid("parts.body", .partBase64) }
        return .inline(bytes)
    }

    /// Reads a part as ``write(_:of:_:_:into:)`` writes it in version 3.0, or a part of an announcement, whose id ends with
    /// its index.
    ///
    /// - Parameter otherID: The id of a part that has only an index.
    /// - Returns: `nil` if a member is missing or invalid.
    static func readResponse(
        _ object: JSONValue, at index: Int, otherID: MessagePart.ID
    ) -> MessagePart? {
        guard let mimeType = object["mime_type"]?.string,
            let name = object["id"]?.string?.split(separator: "/").last
        else { return nil }
        let body: MessagePart.Body
        if let content = object.present("content") {
            guard let read = try? ContentJSON.read(content) else { return nil }
            body = read
        } else {
            guard let text = object["body"]?.utf8 else { return nil }
            if object.present("encoding")?.string == "base64" {
                guard let bytes = Base64.decodeMIME(text) else { return nil }
                body = .inline(bytes)
            } else {
                body = .inline(Array(text))
            }
        }
        let part = MessagePart(
            id: MessagePart.ID(uuid: name) ?? otherID, index: index, mimeType: mimeType,
            body: body, updatedAt: TimestampJSON.read(object["updated_at"]))
        return FeedNumber.range.contains(part.size) ? part : nil
    }

    /// Reads an array of parts; `nil` if it is no array or one of them is invalid.
    static func readResponses(_ array: JSONValue?, otherID: MessagePart.ID) -> [MessagePart]? {
        guard let array, array.kind == .array else { return nil }
        var parts: [MessagePart] = []
        for (index, element) in array.elements.enumerated() {
            guard let part = readResponse(element, at: index, otherID: otherID) else { return nil }
            parts.append(part)
        }
        return parts
    }

    /// Writes a part that a client sends, as ``read(_:)`` reads it.
    static func write(draft: MessagePart.Draft, into writer: inout JSONWriter) {
        writer.object { writer in
            if let id = draft.proposedID { writer.member("id", id.uuid) }
            writer.member("mime_type", draft.mimeType)
            switch draft.body {
            case .inline(let bytes): writeBody(bytes, into: &writer)
            case .content(let id, let size):
                writer.key("content")
                writer.object { writer in
                    writer.member("id", IdentifierJSON.text(id, in: .content))
                    writer.member("size", size)
                }
            }
        }
    }

    /// Reads the member `id`: a UUID or an index, alone or as the last segment of a part's long id.
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
    /// The server stores bytes: valid UTF-8 is written as text even if it was received as base64, and other bytes are
    /// written as base64 (platform-api §3.4, recorded).
    ///
    /// - Parameter url: The URL of its message in this perspective, up to the id.
    static func write(
        _ part: MessagePart, of message: Message, _ url: EscapedText,
        _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        let isNamedByID = presentation.version == .v3_0
        writer.object { writer in
            // `…/parts/{index}` up to 2.0, `…/parts/{uuid}` in 3.0 (platform-api §1.3).
            writer.key("id")
            writer.string(idStart, thenAtMost: 2 * Message.ID.textSize + 7) { text in
                message.id.append(to: &text)
                text.append("/parts/")
                if isNamedByID {
                    part.id.append(to: &text)
                } else {
                    text.append(decimal: UInt64(part.index))
                }
            }
            if isNamedByID {
                writer.key("url")
                writer.string(url, thenAtMost: 2 * Message.ID.textSize + 7) { text in
                    message.id.append(to: &text)
                    text.append("/parts/")
                    part.id.append(to: &text)
                }
                writer.key("message_url")
                writer.string(url, thenAtMost: Message.ID.textSize, message.id.append)
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
            if isNamedByID {
                writer.key("updated_at")
                TimestampJSON.write(part.updatedAt, into: &writer)
            }
        }
    }

    /// The long id of a message up to its UUID.
    static let idStart = EscapedText("layer:///messages/")

    /// Writes the inlined bytes of a content, always as base64 (X8).
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
            writer.string(utf8: Base64.encodeToUTF8(bytes))
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

extension MessagePartJSON {
    /// The schema of a part in answers.
    static func schema(_ version: APIVersion) -> JSONSchema {
        var members: [JSONSchema.Member] = [.required("id", .string)]
        if version == .v3_0 {
            members.append(.required("url", .url))
            members.append(.required("message_url", .url))
        }
        members += [
            .required("mime_type", .string),
            .required("body", JSONSchema.string.orNull),
            .required("encoding", JSONSchema.choice(["base64"]).orNull),
            .required("content", ContentJSON.schema.orNull),
        ]
        if version == .v3_0 { members.append(.required("updated_at", JSONSchema.time.orNull)) }
        return .named("MessagePart", .object(members))
    }

    /// The schema of a part in requests: with `body` or with `content`.
    static let draftSchema = JSONSchema.named(
        "MessagePartDraft", .object(bodyMembers + [.optional("id", .string)]))

    /// The schema of the new type and body of an existing part.
    fileprivate static let replacementSchema = JSONSchema.named(
        "MessagePartReplacement", .object(bodyMembers))

    private static let bodyMembers: [JSONSchema.Member] = [
        .required("mime_type", .text(JSONTextSchema(pattern: "^[^\\x00]+/[^\\x00]+$"))),
        .optional(
            "body",
            JSONSchema.string.withDescription(
                "At most 2048 bytes; ignored if `content` is present.")
        ),
        .optional("encoding", .choice(["base64"])),
        .optional(
            "content",
            .object([
                .required("id", .name(in: .content)),
                .optional("size", .integer(0 ... .max)),
            ])),
    ]
}

/// Parts on their own, outside a message (platform-api §5.3).
public enum MessagePartsJSON {
    // MARK: - Reading

    /// Reads a part to add; its `id` must not be an index.
    ///
    /// - Throws: The first error, which names members as in a message (ruling 5).
    public static func draftToAdd(_ body: JSONValue) throws(Rejection) -> MessagePart.Draft {
        try MessagePartJSON.read(body)
    }

    /// Reads the new type and body of a part; an `id` is ignored.
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

    /// Parses the name of a part in a path: its UUID, or its index in decimal digits without leading zeros.
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
        let url = EscapedText(presentation.links.messages(in: message.conversation))
        MessagePartJSON.write(part, of: message, url, presentation, into: &writer)
    }

    /// Writes a list of parts.
    public static func write(
        _ parts: [MessagePart], of message: Message, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        let url = EscapedText(presentation.links.messages(in: message.conversation))
        writer.array { writer in
            for part in parts {
                MessagePartJSON.write(part, of: message, url, presentation, into: &writer)
            }
        }
    }

    /// The last element of a part's id and URL: `{index}` up to 2.0, the UUID in 3.0 (platform-api §1.3).
    public static func name(of part: MessagePart, _ version: APIVersion) -> String {
        version == .v3_0 ? part.id.uuid : String(part.index)
    }
}

extension MessagePartsJSON {
    /// The schema of a part in answers.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        MessagePartJSON.schema(version)
    }

    /// The schema of a part in requests.
    public static let draftSchema = MessagePartJSON.draftSchema

    /// The schema of what ``draft(_:)`` reads: a part without an id.
    public static let replacementSchema = MessagePartJSON.replacementSchema
}
