package import HTTP
import MessagingWire

/// The session token of a request: `Authorization: Layer session-token="…"` (client-api §1).
///
/// The scheme is matched in any case; the token may stand in double, single or no quotes, and has 1 to 4,096 characters
/// of `A–Z a–z 0–9 - _ .`. Two `Authorization` headers are invalid.
package struct SessionToken: Equatable, Sendable {
    /// The bytes of the token.
    package let bytes: [UInt8]

    /// Why there is no token; no error text says whether a session exists.
    package enum Problem: Error, CaseIterable, Sendable {
        /// There is no `Authorization` header.
        case missing
        /// The scheme is not `Layer`, or the value is not `session-token=` and a token.
        case malformed
        /// The session is unknown, has ended or has expired, or its user or application is suspended.
        case unknown
    }

    package init(_ fields: Fields) throws(Problem) {
        guard fields.contains("Authorization") else { throw .missing }
        guard fields.occurrences(of: "Authorization") == 1,
            let line = fields.bytes("Authorization"),
            let token = Self.token(in: line)
        else { throw .malformed }
        bytes = token
    }

    /// The token of the query parameter `session_token`; `nil` for none or a malformed one.
    package init?(_ target: RequestTarget) {
        guard let parameters = try? target.parameters(),
            let text = parameters.first(where: { $0.name == "session_token" })?.value,
            Self.isToken(text.utf8)
        else { return nil }
        bytes = Array(text.utf8)
    }

    private static func token(in line: ArraySlice<UInt8>) -> [UInt8]? {
        let scheme = line.prefix { byte in byte != UInt8(ascii: " ") }
        guard scheme.elementsEqual("layer".utf8, by: isSame) else { return nil }
        let rest = line[scheme.endIndex...].drop { byte in byte == UInt8(ascii: " ") }
        let name = Array("session-token=".utf8)
        guard rest.count > name.count, rest.prefix(name.count).elementsEqual(name, by: isSame)
        else { return nil }
        var value = rest.dropFirst(name.count)
        if let quote = value.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            guard value.count >= 2, value.last == quote else { return nil }
            value = value.dropFirst().dropLast()
        }
        return isToken(value) ? Array(value) : nil
    }

    private static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        (1...4096).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_.".utf8.contains(byte)
                }
            }
    }

    /// Whether a byte is a lower-case one, where ASCII letters match in either case.
    private static func isSame(_ byte: UInt8, _ expected: UInt8) -> Bool {
        ((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) == expected
    }
}

extension APIError {
    /// 401 with a nonce, which is usable at once for a new identity token (client-api §2.4).
    init(_ problem: SessionToken.Problem, nonce: String) {
        let text =
            switch problem {
            case .missing:
                "The request has no session token; log in (POST /sessions), and send `Authorization: Layer session-token=\"…\"`."
            case .malformed:
                "The `Authorization` header must be `Layer session-token=\"…\"` with the token of POST /sessions."
            case .unknown: "The session token is no longer valid because it has expired."
            }
        self.init(.authenticationRequired, text, data: .nonce(nonce))
    }
}
