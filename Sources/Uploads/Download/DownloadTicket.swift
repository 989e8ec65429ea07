internal import Bytes
internal import HTTP

/// The claims of a signed URL: content, file name and expiry (§9.6).
struct DownloadTicket: Sendable, Equatable {
    /// The content id, as in the path.
    let content: String
    /// The percent-encoded file name, as in the path.
    private let fileName: String
    /// The last second of validity, since 1970 UTC.
    let expires: Int64
    /// `dl=1`: browsers save the content, whatever its type is.
    let forcesAttachment: Bool

    /// Why a URL is refused.
    enum Refusal: Error, Equatable {
        /// A parameter is missing, repeated, or not covered by the signature.
        case forged
        /// The signature is valid, but the URL has expired.
        case expired
    }

    /// The path and query, signed with the key of a time in milliseconds since 1970 UTC.
    func signed(by keys: SigningKeys, at now: Int64) -> String {
        guard let key = keys.signing(at: now) else { return "/download/\(content)/\(fileName)" }
        let signature = Base64.encodeForURL(Signature.of(signedText, key: key.secret))
        let save = forcesAttachment ? "&dl=1" : ""
        return
            "/download/\(content)/\(fileName)?exp=\(expires)&kid=\(key.id)\(save)&sig=\(signature)"
    }

    /// Parses and verifies a URL; nothing is looked up before.
    ///
    /// - Parameters:
    ///   - now: Seconds since 1970 UTC.
    ///   - leeway: Seconds.
    init(
        _ target: RequestTarget, keys: SigningKeys, now: Int64, leeway: Int64
    ) throws(Refusal) {
        let path = target.path.split(separator: "/", omittingEmptySubsequences: false)
        guard path.count == 4, let parameters = try? target.parameters() else { throw .forged }
        func single(_ name: String) throws(Refusal) -> String? {
            let values = parameters.filter { $0.name.utf8.elementsEqual(name.utf8) }
            guard values.count <= 1 else { throw .forged }
            return values.first?.value
        }
        guard
            let expires = try single("exp").flatMap({ Int64(decimal: $0.utf8) }),
            let key = try single("kid").flatMap(keys.key),
            let signature = try single("sig").flatMap({ Base64.decodeForURL($0) })
        else { throw .forged }
        let save = try single("dl")
        guard save == nil || save == "1" else { throw .forged }
        content = String(path[2])
        fileName = String(path[3])
        self.expires = expires
        forcesAttachment = save != nil
        guard Signature.matches(Signature.of(signedText, key: key.secret), signature),
            key.isAccepted(at: now * 1000)
        else { throw .forged }
        guard now <= expires.clampedSum(leeway) else { throw .expired }
    }

    init(content: String, fileName: String, expires: Int64, forcesAttachment: Bool = false) {
        self.content = content
        self.fileName = fileName
        self.expires = expires
        self.forcesAttachment = forcesAttachment
    }

    private var signedText: String {
        "dl1\n\(content)\n\(fileName)\n\(expires)\n\(forcesAttachment ? "1" : "")"
    }
}

extension Int64 {
    fileprivate func clampedSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
