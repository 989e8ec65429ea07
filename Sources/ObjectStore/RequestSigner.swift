internal import Bytes
internal import HTTP

/// Signs requests with AWS Signature Version 4 (§10.4).
///
/// libcurl's own signing is not used: it cannot sign URLs, and does not sort queries before version
/// 8.
struct RequestSigner: Sendable {
    let credentials: Credentials
    let region: String

    /// The given headers and those that sign the request.
    ///
    /// - Parameters:
    ///   - host: The value of the header `Host`.
    ///   - path: Encoded.
    ///   - query: In the form of ``CanonicalRequest/query(_:)``.
    ///   - fields: All of them are signed; none may be one that signing adds.
    func fields(
        signing method: Method, host: String, path: String, query: String,
        fields: [(name: String, value: String)], payload: PayloadDigest, at time: SigningTime
    ) -> [(name: String, value: String)] {
        var sent = fields
        sent.append(("x-amz-content-sha256", payload.text))
        sent.append(("x-amz-date", time.stamp))
        if let token = credentials.sessionToken { sent.append(("x-amz-security-token", token)) }
        let request = CanonicalRequest(
            method: method, path: path, query: query, fields: sent + [("host", host)],
            payload: payload)
        let words = [
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope(at: time))",
            "SignedHeaders=\(request.signedNames)",
            "Signature=\(signature(of: request, at: time))",
        ]
        sent.append(("Authorization", words.joined(separator: ", ")))
        return sent
    }

    /// The query of a pre-signed URL that is valid for a number of seconds.
    ///
    /// Only `Host` is signed, so clients may add headers such as a range.
    func query(
        signing method: Method, host: String, path: String,
        query: [(name: String, value: String)], seconds: Int, at time: SigningTime
    ) -> String {
        var parameters = query
        parameters += [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", "\(credentials.accessKey)/\(scope(at: time))"),
            ("X-Amz-Date", time.stamp),
            ("X-Amz-Expires", "\(seconds)"),
            ("X-Amz-SignedHeaders", "host"),
        ]
        if let token = credentials.sessionToken {
            parameters.append(("X-Amz-Security-Token", token))
        }
        let text = CanonicalRequest.query(parameters)
        let request = CanonicalRequest(
            method: method, path: path, query: text, fields: [("host", host)], payload: .unsigned)
        return "\(text)&X-Amz-Signature=\(signature(of: request, at: time))"
    }

    private func scope(at time: SigningTime) -> String {
        "\(time.date)/\(region)/s3/aws4_request"
    }

    private func signature(of request: CanonicalRequest, at time: SigningTime) -> String {
        var key = Array("AWS4\(credentials.secretKey)".utf8)
        for text in [time.date, region, "s3", "aws4_request"] {
            key = Signature.of(text, key: key)
        }
        let text = request.stringToSign(at: time, scope: scope(at: time))
        return String(hexadecimal: Signature.of(text, key: key))
    }
}

/// The canonical form of a request, which client and store both sign (§10.4).
struct CanonicalRequest {
    /// `METHOD LF path LF query LF headers LF signedHeaders LF payloadHash`.
    let text: String
    /// The names of the signed headers, separated by `;`.
    let signedNames: String

    /// - Parameters:
    ///   - path: Encoded, as it is sent.
    ///   - query: Encoded and sorted, as it is sent.
    ///   - fields: All signed headers, including `Host`; no name twice.
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

    /// The string to sign: the hash of this request at a time, for one region.
    func stringToSign(at time: SigningTime, scope: String) -> String {
        let hash = String(hexadecimal: SHA256.digest(of: Array(text.utf8)))
        return "AWS4-HMAC-SHA256\n\(time.stamp)\n\(scope)\n\(hash)"
    }

    /// Parameters as they are signed and sent: encoded, sorted by name and value; an empty value
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
    /// Without surrounding white space, and with single spaces inside.
    fileprivate var collapsed: String {
        utf8.split { byte in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
            .map { Substring($0) }.joined(separator: " ")
    }
}

/// The digest of the body in the signature (§10.4).
enum PayloadDigest: Sendable, Equatable {
    /// Its SHA-256 in lower-case hexadecimal, which the store verifies.
    case sha256(String)
    /// Nothing: only TLS protects the body.
    case unsigned

    /// The digest of a body in memory.
    init(of bytes: [UInt8]) { self = .sha256(String(hexadecimal: SHA256.digest(of: bytes))) }

    /// The digest of an empty body.
    static let empty = PayloadDigest(of: [])

    /// The value of `x-amz-content-sha256`.
    var text: String {
        switch self {
        case .sha256(let digits): digits
        case .unsigned: "UNSIGNED-PAYLOAD"
        }
    }
}

/// A time in whole seconds UTC, in the form of signatures (§10.4).
struct SigningTime: Sendable {
    /// `20300101T000000Z`.
    let stamp: String

    /// Converts milliseconds since 1970; fractions of a second are dropped.
    init(_ milliseconds: Int64) {
        // The basic form of ISO 8601 has no separators.
        stamp = ISO8601.wholeSeconds(milliseconds).filter { $0 != "-" && $0 != ":" }
    }

    /// `20300101`.
    var date: String { String(stamp.prefix(8)) }
}
