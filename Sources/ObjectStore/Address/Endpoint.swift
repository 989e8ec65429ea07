/// The parts of `https://host:port/path`.
struct Endpoint: Sendable {
    let isSecure: Bool
    /// The host with its port, where that is not the usual one: what libcurl writes into `Host`, and
    /// what is signed therefore.
    let host: String
    /// Encoded, without a slash at its end; empty for none.
    let path: String
    /// Whether the host is an address rather than a name.
    let isAddress: Bool

    /// `nil` for anything but a scheme, a host of ASCII letters, and perhaps a port and a path.
    init?(_ text: String) {
        let lowered = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: { lowered.hasPrefix($0) }) else {
            return nil
        }
        isSecure = scheme == "https://"
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        var path = rest[authority.endIndex...]
        while path.hasSuffix("/") { path = path.dropLast() }
        guard URIEncoding.path(String(path)) == path, !path.contains("//"),
            !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." })
        else { return nil }
        self.path = String(path)

        let isBracketed = authority.hasPrefix("[")
        let border = isBracketed ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
        let name = authority[..<(border ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
        guard isBracketed ? border != nil && Self.isIPv6(name) : Self.isName(name) else {
            return nil
        }
        isAddress = isBracketed || name.utf8.last.map { (0x30...0x39).contains($0) } ?? false
        let port = authority[name.endIndex...]
        guard port.isEmpty else {
            let usual = isSecure ? 443 : 80
            guard port.hasPrefix(":"),
                port.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(port.dropFirst()), (1...65_535).contains(number)
            else { return nil }
            host = name.lowercased() + (number == usual ? "" : ":\(number)")
            return
        }
        host = name.lowercased()
    }

    private static func isName(_ text: Substring) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func isIPv6(_ text: Substring) -> Bool {
        text.utf8.count > 4
            && text.dropFirst().dropLast().utf8.allSatisfy { octet in
                octet == UInt8(ascii: ":") || octet == UInt8(ascii: ".")
                    || Character(Unicode.Scalar(octet)).isHexDigit
            }
    }
}
