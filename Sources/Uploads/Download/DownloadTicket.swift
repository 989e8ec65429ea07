internal import Bytes
internal import HTTP

/// What a signed URL says: which content, under which name, until when (§9.6).
struct DownloadTicket: Sendable, Equatable {
    /// The content, as it stands in the path.
    let content: String
    /// The file name, percent-encoded, as it stands in the path.
    let fileName: String
    /// Last second of its life, since 1970 UTC.
    let expires: Int64
    /// `dl=1`: to be saved, whatever its type.
    let forcesAttachment: Bool

    /// Why a URL opens nothing.
    enum Refusal: Error, Equatable {
        /// A part is missing, twice there, or does not belong to the others.
        case forged
        /// It was good once.
        case expired
    }

    /// Path and query.
    func signed(by keys: SigningKeys) -> String {
        guard let key = keys.keys.first else { return "/download/\(content)/\(fileName)" }
        let signature = Base64.encodeForURL(Signature.of(signedText, key: key.secret))
        let save = forcesAttachment ? "&dl=1" : ""
        return
            "/download/\(content)/\(fileName)?exp=\(expires)&kid=\(key.id)\(save)&sig=\(signature)"
    }

    /// Reads and checks a URL; nothing is looked up for one that is not ours.
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
        guard Signature.matches(Signature.of(signedText, key: key.secret), signature) else {
            throw .forged
        }
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
