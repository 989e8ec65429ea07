internal import Digests
internal import HTTP

/// A request in the one spelling both sides sign (§10.4).
struct CanonicalRequest {
    /// `METHOD LF path LF query LF headers LF signedHeaders LF payloadHash`.
    let text: String
    /// The names of the signed fields, `;` between them.
    let signedNames: String

    /// - Parameters:
    ///   - path: Encoded, as it is sent.
    ///   - query: Encoded and sorted, as it is sent.
    ///   - fields: Every one that is signed, `Host` among them; no name twice.
    init(
        method: Method, path: String, query: String, fields: [(name: String, value: String)],
        payload: PayloadDigest
    ) {
        let fields = fields.map { field in (field.name.lowercased(), field.value.collapsed) }
            .sorted { left, right in left.0 < right.0 }
        signedNames = fields.map(\.0).joined(separator: ";")
        let block = fields.map { name, value in "\(name):\(value)\n" }.joined()
        text = [method.rawValue, path, query, block, signedNames, payload.text]
            .joined(separator: "\n")
    }

    /// What is signed: the hash of this request at a time and for one region.
    func toSign(at time: SigningTime, scope: String) -> String {
        let hash = String(hexadecimal: SHA256.digest(of: Array(text.utf8)))
        return "AWS4-HMAC-SHA256\n\(time.stamp)\n\(scope)\n\(hash)"
    }

    /// Parameters as they are signed and sent: encoded, sorted by name, then by value; an empty value
    /// keeps its `=`.
    static func query(_ parameters: [(name: String, value: String)]) -> String {
        parameters
            .map { (URIEncoding.component($0.name), URIEncoding.component($0.value)) }
            .sorted { left, right in left < right }
            .map { name, value in "\(name)=\(value)" }
            .joined(separator: "&")
    }
}

extension String {
    /// Without blanks around it, and with one for each run of them inside.
    fileprivate var collapsed: String {
        utf8.split { octet in octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t") }
            .map { Substring($0) }.joined(separator: " ")
    }
}
