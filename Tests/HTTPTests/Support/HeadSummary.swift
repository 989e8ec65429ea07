import HTTP

/// The content of a head in a form that can be compared, read and written again.
///
/// The fuzzer uses this file through a link in its folder, because it cannot import test targets.
struct HeadSummary: Equatable {
    /// A field as received.
    struct Field: Equatable {
        var name: String
        var value: String
    }

    var method: Method?
    var path: String
    var query: String?
    var lines: [Field]
    var framing: BodyFraming
    var isHTTP10: Bool
    var persists: Bool
    var expectsContinue: Bool
    /// The rule of the recoverable refusal.
    var recoverableRefusal: String?

    init(_ head: RequestHead) {
        method = head.method
        path = head.target.path
        query = head.target.query
        lines = head.fields.all.map { field in Field(name: field.name, value: field.value) }
        framing = head.framing
        isHTTP10 = head.isHTTP10
        persists = head.persists
        expectsContinue = head.expectsContinue
        recoverableRefusal = head.recoverableRefusal?.rule
    }

    /// The fields as readable lines.
    var fields: [String] { lines.map { line in "\(line.name): \(line.value)" } }

    /// The head as a client would write it, in as few bytes as possible; `nil` for an unknown
    /// method.
    var bytes: [UInt8]? {
        guard let method else { return nil }
        let target = path + (query.map { query in "?" + query } ?? "")
        let text =
            "\(method.rawValue) \(target) HTTP/1.\(isHTTP10 ? 0 : 1)\r\n"
            + lines.map { line in "\(line.name):\(line.value)\r\n" }.joined() + "\r\n"
        return text.unicodeScalars.map { scalar in UInt8(scalar.value) }
    }
}
