import HTTP

/// Everything a head says, in a form that can be compared and written out again.
struct HeadSummary: Equatable {
    var method: Method?
    var path: String
    var query: String?
    var fields: [[UInt8]]
    var framing: BodyFraming
    var isHTTP10: Bool
    var persists: Bool
    var expectsContinue: Bool
    var objection: String?

    init(_ head: RequestHead) {
        method = head.method
        path = head.target.path
        query = head.target.query
        fields = head.fields.all.map { field in
            "\(field.name):\(field.value)".unicodeScalars.map { scalar in UInt8(scalar.value) }
        }
        framing = head.framing
        isHTTP10 = head.isHTTP10
        persists = head.persists
        expectsContinue = head.expectsContinue
        objection = head.objection?.rule
    }

    /// The head as a client would write it; `nil` when the method has no name here.
    var octets: [UInt8]? {
        guard let method else { return nil }
        let target = path + (query.map { query in "?" + query } ?? "")
        return Array("\(method.rawValue) \(target) HTTP/1.\(isHTTP10 ? 0 : 1)\r\n".utf8)
            + fields.flatMap { field in field + Array("\r\n".utf8) } + Array("\r\n".utf8)
    }
}
