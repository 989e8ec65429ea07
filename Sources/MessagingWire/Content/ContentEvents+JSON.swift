import JSON
import Messaging

extension ContentUploaded: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .content }

    static var dataSchema: JSONSchema {
        ContentJSON.schema
    }

    var logSummary: String {
        "uploaded content \(content.id), \(content.size) bytes"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(content.id, in: .content)
    }

    func writeData(
        sender: BasicIdentity?, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        ContentJSON(id: content.id, size: content.size, in: content.conversation)
            .write(presentation.links, presentation.sign(content.id), into: &writer)
    }
}

extension ContentOwned: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .content }

    var logSummary: String {
        "owns content \(content)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(content, in: .content)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("owner", UserIDJSON.text(identity: owner))
    }
}

extension ContentWithdrawn: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .content }

    var logSummary: String {
        "withdrew content \(content)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(content, in: .content)
    }
}

extension ContentsErased: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .content }

    static var dataSchema: JSONSchema {
        .object([.required("contents", .array(of: .identifier(.content)))])
    }

    var logSummary: String {
        "erased the bytes of \(EventLogLine.count(contents.count, "content"))"
    }

    func subject(in links: LinkBuilder) -> String {
        links.applicationID
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.key("contents")
        writer.array { writer in
            for id in contents { writer.string(IdentifierJSON.text(id, in: .content)) }
        }
    }
}
