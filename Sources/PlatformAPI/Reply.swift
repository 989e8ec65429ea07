import HTTP
import MessagingWire

/// What a handler answers, before the fields every answer carries.
struct Reply: Sendable {
    let status: Status
    let json: [UInt8]?
    /// An answer whose content comes as time goes by.
    private let streamed: Response?
    private(set) var fields = ResponseFields()
    /// Whether the headers name the version: those of an answer given before do.
    private(set) var namesVersion = false

    /// An answer with a JSON body.
    init(_ status: Status, _ json: [UInt8]) {
        self.status = status
        self.json = json
        streamed = nil
    }

    /// An answer that goes on as a stream.
    init(_ stream: EventStream) {
        status = .ok
        json = nil
        streamed = stream.response
    }

    /// An answer whose content is written bit by bit.
    init(_ content: HTTP.Content, _ type: String) {
        status = .ok
        json = nil
        var response = Response(.ok, content: content)
        response.fields.add("Content-Type", type)
        response.fields.add("Cache-Control", "no-store")
        streamed = response
    }

    /// An answer whose body must be truly empty (platform-api §8).
    static let noContent = Reply(.noContent)

    /// An answer without a body.
    init(_ status: Status) {
        self.status = status
        json = nil
        streamed = nil
    }

    /// An answer given before.
    init(_ status: Status, _ json: [UInt8]?, fields: ResponseFields) {
        self.status = status
        self.json = json
        self.fields = fields
        namesVersion = true
        streamed = nil
    }

    /// The same with another field.
    func adding(_ name: FieldName, _ value: String) -> Reply {
        var reply = self
        reply.fields.add(name, value)
        return reply
    }

    /// The response, with the fields every answer carries (H97).
    var response: Response {
        if let streamed { return streamed }
        var response = Response(status, fields: fields)
        response.fields.add("Cache-Control", "no-store")
        if let json {
            response.fields.add("Content-Type", "application/json; charset=UTF-8")
            response.content = .bytes(json)
        }
        return response
    }
}
