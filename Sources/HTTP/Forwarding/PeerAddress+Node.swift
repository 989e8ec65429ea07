extension PeerAddress {
    /// Reads a node as proxies write it (RFC 7239 §6): `192.0.2.43`, `[2001:db8::17]`, each possibly
    /// with `:` and a port; `nil` for `unknown`, for obfuscated identifiers such as `_hidden`, and for
    /// anything else (H199).
    ///
    /// - Parameter isBracketed: Whether IPv6 addresses must stand in brackets, as `Forwarded` asks;
    ///   `X-Forwarded-For` mostly has them bare.
    init?(node text: ArraySlice<UInt8>, bracketed isBracketed: Bool) {
        if text.first == UInt8(ascii: "[") {
            guard
                let bracket = text.firstIndex(of: UInt8(ascii: "]")),
                let address = IPv6Text.address(text[(text.startIndex + 1)..<bracket]),
                let port = Self.port(text[(bracket + 1)...])
            else { return nil }
            self.init(address, port: port)
        } else if !isBracketed, let address = IPv6Text.address(text) {
            self.init(address, port: 0)
        } else {
            let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
            guard
                let bits = IPv4Text.address(text[..<colon]), let port = Self.port(text[colon...])
            else { return nil }
            self = .ipv4(bits, port: port)
        }
    }

    /// An IPv6 address, or the IPv4 address it stands for.
    package init(_ address: IPv6Address, port: UInt16) {
        if let bits = address.mappedIPv4 {
            self = .ipv4(bits, port: port)
        } else {
            self = .ipv6(address, port: port)
        }
    }

    /// Nothing, or `:` and a port; an obfuscated one (`:_http`) is valid and tells nothing.
    private static func port(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard let colon = text.first else { return 0 }
        guard colon == UInt8(ascii: ":") else { return nil }
        let name = text.dropFirst()
        if name.first == UInt8(ascii: "_") {
            let isName = name.allSatisfy { octet in
                "._-0123456789".utf8.contains(octet)
                    || (0x61...0x7A).contains(octet.asciiLowercased)
            }
            return name.count > 1 && isName ? 0 : nil
        }
        guard name.count <= 5, let port = Int64(decimal: name) else { return nil }
        return UInt16(exactly: port)
    }
}
