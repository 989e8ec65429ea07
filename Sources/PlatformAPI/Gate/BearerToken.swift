package import HTTP

/// The credential of a request: `Authorization: Bearer token68` (platform-api §1.4, RFC 6750 §2.1).
///
/// Strict as H211 asks: the scheme in any case, one blank, a token of the characters of RFC 9110
/// §11.2, 4 KiB at most. Two such lines are no credential.
package struct BearerToken: Equatable, Sendable {
    package let secret: [UInt8]

    package init?(_ fields: Fields) {
        guard fields.occurrences(of: "Authorization") == 1,
            let line = fields.octets("Authorization")
        else { return nil }
        self.init(line)
    }

    init?(_ line: ArraySlice<UInt8>) {
        let scheme = Array("bearer ".utf8)
        guard line.count <= 4096, line.count > scheme.count else { return nil }
        guard zip(line, scheme).allSatisfy({ octet, model in Self.lowercased(octet) == model })
        else { return nil }
        let token = line.dropFirst(scheme.count)
        let text = token.prefix(while: Self.isTokenCharacter)
        guard !text.isEmpty else { return nil }
        guard token.dropFirst(text.count).allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            return nil
        }
        secret = Array(token)
    }

    private static func lowercased(_ octet: UInt8) -> UInt8 {
        (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
    }

    private static func isTokenCharacter(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/".utf8.contains(octet)
        }
    }
}
