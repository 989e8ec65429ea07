import Bytes
public import JSON
public import Messaging

/// The JSON of a line of an export: one compact object with its members in a fixed order; members without a value are
/// omitted (X10).
public enum ArchiveLineJSON {
    /// The number of the line format; it must change when the meaning of a member changes.
    static let format: Int64 = 1

    /// Writes a line, without the line feed.
    public static func write(_ line: ArchiveLine, into writer: inout JSONWriter) {
        switch line {
        case .application(let application): write(application, into: &writer)
        case .bytes(let archived):
            writer.object { writer in
                writer.kind(.bytes)
                writer.member("content", archived.content.uuid)
                writer.member("at", archived.offset)
                writer.member("data", Base64.encode(archived.bytes))
            }
        case .record(let record): write(record, into: &writer)
        }
    }

    static func write(_ record: ArchiveRecord, into writer: inout JSONWriter) {
        switch record {
        case .application(let application): write(application, into: &writer)
        case .user(let archived): write(archived, into: &writer)
        case .relations(let archived): write(archived, into: &writer)
        case .conversation(let archived): write(archived, into: &writer)
        case .message(let archived): write(archived, into: &writer)
        case .content(let archived):
            writer.object { writer in
                writer.kind(.content)
                write(archived, into: &writer)
            }
        case .scheduled(let archived): write(archived, into: &writer)
        case .announcement(let archived): write(archived, into: &writer)
        case .key(let archived):
            writer.object { writer in
                writer.kind(.key)
                writer.member("kind", archived.kind.rawValue)
                writer.member("key", archived.key.uuid)
                writer.member("object", archived.object.uuid)
            }
        }
    }

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - bytes: The line without the line feed, at most ``maximumLineBytes``.
    ///   - limits: The maximum number of participants of a conversation.
    /// - Throws: The first error: invalid JSON, or an invalid member by its name.
    public static func read(
        _ bytes: [UInt8], _ limits: MessagingLimits
    ) throws(ArchiveLineError) -> ArchiveLine {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes, limits: JSONLimits(size: maximumLineBytes))
        } catch {
            throw ArchiveLineError(nil, "is not a JSON object: \(error)")
        }
        guard document.root.kind == .object else {
            throw ArchiveLineError(nil, "is not a JSON object")
        }
        let line = ArchiveLineReader(document.root)
        guard let kind = ArchiveRecordKind(rawValue: try line.text("record")) else {
            let kinds = ArchiveRecordKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ArchiveLineError("record", "must be one of \(kinds)")
        }
        return switch kind {
        case .application: .application(try application(line))
        case .bytes: .bytes(try contentBytes(line))
        case .user: .record(.user(try user(line)))
        case .relations: .record(.relations(try relations(line)))
        case .conversation: .record(.conversation(try conversation(line, limits)))
        case .message: .record(.message(try message(line)))
        case .content: .record(.content(try content(line)))
        case .scheduled: .record(.scheduled(try schedule(line)))
        case .announcement: .record(.announcement(try announcement(line)))
        case .key: .record(.key(try key(line)))
        }
    }

    /// The maximum number of bytes of a line: 64 MiB, enough for metadata and 10,000 recipients.
    public static let maximumLineBytes = 64 << 20

    private static func contentBytes(_ line: ArchiveLineReader) throws(ArchiveLineError)
        -> ArchivedBytes
    {
        let content: Content.ID = try line.uuid("content")
        return ArchivedBytes(
            of: content, at: try line.size("at"),
            try line.bytes("data", 0...ArchivedBytes.maximumCount))
    }

    private static func key(_ line: ArchiveLineReader) throws(ArchiveLineError) -> ArchivedReplayKey
    {
        guard let kind = Replay.Kind(rawValue: try line.text("kind")) else {
            throw line.error("kind", "is a kind of key that this release does not know")
        }
        return ArchivedReplayKey(kind, try line.uuid("key"), object: try line.uuid("object"))
    }
}

extension JSONWriter {
    mutating func kind(_ kind: ArchiveRecordKind) { member("record", kind.rawValue) }

    /// Writes a member unless its value is `nil`.
    mutating func member(present name: StaticString, _ value: String?) {
        if let value { member(name, value) }
    }

    /// Writes a member unless its value is `nil`.
    mutating func member(present name: StaticString, _ value: Int64?) {
        if let value { member(name, value) }
    }

    mutating func member(_ name: StaticString, _ moment: Timestamp) {
        member(name, TimestampJSON.text(moment))
    }

    /// Writes a member unless its value is `nil`.
    mutating func member(present name: StaticString, _ moment: Timestamp?) {
        if let moment { member(name, moment) }
    }

    /// Writes an array of texts, unless it is empty.
    mutating func member(present name: StaticString, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        key(name)
        array { writer in
            for text in texts { writer.string(text) }
        }
    }
}

/// The result of an import: `{"lines":12,"changed":true,"merged":0,"records":[{"record":"user",
/// "brought":2,"present":0}, …]}` (X10).
public enum ImportSummaryJSON {
    /// Writes the object.
    public static func write(_ summary: ImportSummary, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("lines", summary.lines)
            writer.member("changed", summary.hasChanged)
            writer.member("merged", summary.merged)
            writer.key("records")
            writer.array { writer in
                for count in summary.counts {
                    writer.object { writer in
                        writer.kind(count.kind)
                        writer.member("brought", count.imported)
                        writer.member("present", count.present)
                    }
                }
            }
        }
    }

    private static let count = JSONSchema.integer(0 ... .max)

    /// The schema of what ``write(_:into:)`` writes.
    public static let schema = JSONSchema.named(
        "Import",
        .object([
            .required("lines", count.withDescription("The number of lines.")),
            .required(
                "changed",
                JSONSchema.boolean.withDescription("Whether the import changed anything.")),
            .required(
                "merged",
                count.withDescription(
                    "The number of conversations that were merged into an existing one.")),
            .required(
                "records",
                .array(
                    of: .object([
                        .required("record", .choice(ArchiveRecordKind.allCases.map(\.rawValue))),
                        .required("brought", count),
                        .required(
                            "present",
                            count.withDescription(
                                "Records that existed already, or had been deleted on this server."
                            )),
                    ]))),
        ]))
}
