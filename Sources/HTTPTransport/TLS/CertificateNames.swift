import HTTP

/// The names a certificate is good for, and whether a host is one of them (RFC 6125 §6.4).
struct CertificateNames: Sendable {
    /// Host names in lower case, without wildcards; addresses in their text form.
    private(set) var exact: Set<String> = []
    /// What follows the `*` of a wildcard, with its dot: `.example.com`.
    private(set) var wildcards: Set<String> = []

    /// Takes names as they stand in a certificate; a `*` elsewhere than as the whole first label is
    /// no name (H163).
    init(_ names: [String]) {
        for name in names.map(Self.folded) {
            if name.hasPrefix("*.") {
                let parent = name.dropFirst()
                if !parent.dropFirst().isEmpty, !parent.contains("*") {
                    wildcards.insert(String(parent))
                }
            } else if !name.isEmpty, !name.contains("*") {
                exact.insert(name)
            }
        }
    }

    /// Whether a host, in lower case, is one of them: by itself, or below a wildcard by one label.
    func covers(_ host: String) -> Bool {
        exact.contains(host) || Self.parent(host).map(wildcards.contains) == true
    }

    /// `.example.com` of `chat.example.com`; `nil` without a dot or a first label.
    static func parent(_ host: String) -> String? {
        guard let dot = host.utf8.firstIndex(of: UInt8(ascii: ".")), dot != host.startIndex else {
            return nil
        }
        return String(host[dot...])
    }

    /// ASCII letters in lower case; other octets are nobody's business here.
    static func folded(_ name: some StringProtocol) -> String {
        String(
            decoding: name.utf8.map { octet in
                (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
            }, as: UTF8.self)
    }
}
