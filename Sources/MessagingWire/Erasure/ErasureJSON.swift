public import JSON
public import Messaging

/// The erasure of a user as answers show it, the same in every version (X16).
public enum ErasureJSON {
    /// Returns an erasure.
    public static func bytes(_ erasure: Erasure, _ links: LinkBuilder) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(erasure.id, in: .erasures))
            writer.member("url", links.erasure(erasure.id))
            writer.member("state", erasure.state.rawValue)
            writer.member("erased_user", UserIDJSON.text(identity: erasure.erasedUser))
            writer.member("requested_at", TimestampJSON.text(erasure.requestedAt))
            writer.key("ended_at")
            TimestampJSON.write(erasure.endedAt, into: &writer)
            writer.member("round", erasure.round)
            writer.key("progress")
            if erasure.state == .running {
                writer.object { writer in
                    writer.member("phase", erasure.isProving ? "proving" : "erasing")
                    writer.member("table", erasure.table)
                }
            } else {
                writer.null()
            }
            writer.key("counts")
            writer.array { writer in
                for count in erasure.counts { write(count, into: &writer) }
            }
            let proof = erasure.proof
            writer.key("remaining")
            if let proof { writer.integer(proof.remaining) } else { writer.null() }
            writer.member("digest", (proof?.digest).map(hexadecimal))
            writer.member("error", erasure.error)
        }
        return writer.finish()
    }

    private static func write(_ count: Erasure.Count, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("table", count.table)
            writer.member("erased", count.erased)
            writer.member("scanned", count.scanned)
            writer.member("remaining", count.remaining)
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// The schema of an erasure.
    public static let schema = JSONSchema.named(
        "Erasure",
        .object([
            .required("id", .identifier(.erasures)),
            .required("url", .url),
            .required("state", .choice(Erasure.State.allCases.map(\.rawValue))),
            .required("erased_user", UserIDJSON.identitySchema),
            .required("requested_at", .time),
            .required("ended_at", JSONSchema.time.orNull),
            .required("round", .integer(1...Erasure.roundLimit)),
            .required(
                "progress",
                JSONSchema.object([
                    .required("phase", .choice(["erasing", "proving"])),
                    .required("table", JSONSchema.string.orNull),
                ]).orNull),
            .required(
                "counts",
                .array(
                    of: .object([
                        .required("table", .string),
                        .required("erased", .integer(0 ... .max)),
                        .required("scanned", .integer(0 ... .max)),
                        .required("remaining", .integer(0 ... .max)),
                    ]))),
            .required(
                "remaining",
                JSONSchema.integer(0 ... .max).orNull.withDescription(
                    "The number of rows that name the user, found by the last proof. `null` unless the erasure has ended with a proof."
                )),
            .required(
                "digest",
                JSONSchema.string.orNull.withDescription(
                    "SHA-256 of no bytes if the proof found no row. Each row found replaces it by SHA-256(previous digest, table name, 0 byte, key). In hexadecimal digits; `null` as `remaining`."
                )),
            .required("error", JSONSchema.string.orNull),
        ]))
}

extension ParticipantErased: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String { "erased a participant of conversation \(conversation)" }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("erased_user", UserIDJSON.text(identity: user))
    }
}

extension MessageErased: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    static var dataSchema: JSONSchema {
        .anyOf([MessageJSON.schema(.v3_0), .object([])])
    }

    var logSummary: String { "erased message \(message) in conversation \(conversation)" }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(message, in: .messages)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: message, in: conversation, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("erased_user", UserIDJSON.text(identity: sender))
    }
}

extension AnnouncementErased: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String { "erased announcement \(announcement)" }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(announcement, in: .announcements)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("erased_user", UserIDJSON.text(identity: sender))
    }
}
