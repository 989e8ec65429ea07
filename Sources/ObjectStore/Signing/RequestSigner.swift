internal import Digests
internal import HTTP

/// Signs requests as Amazon's signature version 4 has it (§10.4).
///
/// Our own rather than libcurl's: that one signs no URL, and sorted no query before its version 8.
struct RequestSigner: Sendable {
    let credentials: Credentials
    let region: String

    /// The fields to send: those given, and those that sign them.
    ///
    /// - Parameters:
    ///   - host: As the field `Host` has it.
    ///   - path: Encoded.
    ///   - query: As ``CanonicalRequest/query(_:)`` writes it.
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

    /// The query of a URL that anybody may use for so many seconds.
    ///
    /// Only `Host` is signed: who uses the URL adds the fields he likes, such as a range.
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
        let text = request.toSign(at: time, scope: scope(at: time))
        return String(hexadecimal: Signature.of(text, key: key))
    }
}
