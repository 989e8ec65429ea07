/// One element of `Forwarded`: what one proxy knew of its own client (RFC 7239 §4).
struct ForwardedElement {
    /// `for`, when it is an address.
    private(set) var client: PeerAddress?
    /// `proto`, when it is known.
    private(set) var scheme: Scheme?
    /// `host`, when it is one.
    private(set) var host: Authority?

    /// Reads `name=value` pairs between semicolons, values being tokens or quoted strings; `nil` for
    /// anything else, and for a name that comes twice.
    init?(_ element: ArraySlice<UInt8>) {
        var rest = element
        var names: [ArraySlice<UInt8>] = []
        while !rest.isEmpty {
            let name = rest.prefix { octet in OctetClass.token.contains(octet) }
            rest = rest[name.endIndex...]
            if name.isEmpty {
                // An empty pair is allowed, as in `for=192.0.2.1;`.
                guard rest.first == UInt8(ascii: ";") else { return nil }
                rest = rest.dropFirst()
                continue
            }
            guard
                rest.first == UInt8(ascii: "="),
                !names.contains(where: { other in other.isEqualIgnoringCase(name) }),
                let value = Self.value(of: &rest),
                rest.isEmpty || rest.first == UInt8(ascii: ";")
            else { return nil }
            names.append(name)
            rest = rest.dropFirst()
            if name.isEqualIgnoringCase("for".utf8) {
                client = PeerAddress(node: value, bracketed: true)
            } else if name.isEqualIgnoringCase("proto".utf8) {
                scheme = Scheme(value)
            } else if name.isEqualIgnoringCase("host".utf8) {
                host = Authority(value)
            }
        }
    }

    /// Takes `=` and the token or quoted string behind it.
    private static func value(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        rest = rest.dropFirst()
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix { octet in OctetClass.token.contains(octet) }
            rest = rest[token.endIndex...]
            return token.isEmpty ? nil : token
        }
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while var octet = rest.popFirst() {
            if octet == UInt8(ascii: "\"") { return text[...] }
            if octet == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                octet = escaped
            }
            text.append(octet)
        }
        return nil
    }
}
