import Base64
public import JSON
public import Messaging

/// A line of an export: one object, compact, its members always in the same order and left out where
/// there is nothing to say (X10).
public enum MovedLineJSON {
    /// The form of the lines; another one would say that members mean something else.
    static let format: Int64 = 1

    /// Writes a line, without its end.
    public static func write(_ line: MovedLine, into writer: inout JSONWriter) {
        switch line {
        case .application(let application): write(application, into: &writer)
        case .bytes(let moved):
            writer.object { writer in
                writer.kind(.bytes)
                writer.member("content", moved.content.uuid)
                writer.member("at", moved.place)
                writer.member("data", Base64.encode(moved.bytes))
            }
        case .record(let record): write(record, into: &writer)
        }
    }

    static func write(_ record: MovedRecord, into writer: inout JSONWriter) {
        switch record {
        case .application(let application): write(application, into: &writer)
        case .user(let moved): write(moved, into: &writer)
        case .relations(let moved): write(moved, into: &writer)
        case .conversation(let moved): write(moved, into: &writer)
        case .message(let moved): write(moved, into: &writer)
        case .content(let moved):
            writer.object { writer in
                writer.kind(.content)
                write(moved, into: &writer)
            }
        case .scheduled(let moved): write(moved, into: &writer)
        case .announcement(let moved): write(moved, into: &writer)
        case .key(let moved):
            writer.object { writer in
                writer.kind(.key)
                writer.member("kind", moved.kind.rawValue)
                writer.member("key", moved.key.uuid)
                writer.member("object", moved.object.uuid)
            }
        }
    }

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - octets: Without its end, at most as long as ``longest``.
    ///   - limits: How many participants a conversation may have.
    /// - Throws: The first mistake: what is no JSON, and each member by its own name.
    public static func read(
        _ octets: [UInt8], _ limits: MessagingLimits
    ) throws(MovedMistake) -> MovedLine {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(octets, limits: JSONLimits(size: longest))
        } catch {
            throw MovedMistake(nil, "is no JSON object: \(error)")
        }
        guard document.root.kind == .object else { throw MovedMistake(nil, "is no JSON object") }
        let line = MovedReader(document.root)
        guard let kind = MovedKind(rawValue: try line.text("record")) else {
            let kinds = MovedKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw MovedMistake("record", "must be one of \(kinds)")
        }
        return switch kind {
        case .application: .application(try application(line))
        case .bytes: .bytes(try bytes(line))
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

    /// Most bytes of a line: metadata, and what 10,000 recipients are called, have room in it.
    public static let longest = 64 << 20

    private static func bytes(_ line: MovedReader) throws(MovedMistake) -> MovedBytes {
        let content: Content.ID = try line.uuid("content")
        return MovedBytes(
            of: content, at: try line.size("at"), try line.octets("data", 0...MovedBytes.most))
    }

    private static func key(_ line: MovedReader) throws(MovedMistake) -> MovedKey {
        guard let kind = Replay.Kind(rawValue: try line.text("kind")) else {
            throw line.mistake("kind", "must be a kind of key")
        }
        return MovedKey(kind, try line.uuid("key"), object: try line.uuid("object"))
    }
}

extension JSONWriter {
    mutating func kind(_ kind: MovedKind) { member("record", kind.rawValue) }

    /// A member, unless there is none.
    mutating func member(present name: StaticString, _ value: String?) {
        if let value { member(name, value) }
    }

    /// The same.
    mutating func member(present name: StaticString, _ value: Int64?) {
        if let value { member(name, value) }
    }

    mutating func member(_ name: StaticString, _ moment: Timestamp) {
        member(name, TimestampJSON.text(moment))
    }

    /// A member, unless there is none.
    mutating func member(present name: StaticString, _ moment: Timestamp?) {
        if let moment { member(name, moment) }
    }

    /// Texts, unless there are none.
    mutating func member(present name: StaticString, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        key(name)
        array { writer in
            for text in texts { writer.string(text) }
        }
    }
}
