package import HTTP
package import MessagingWire

/// The credential of a request: `Authorization: Bearer token68` (platform-api §1.4, RFC 6750 §2.1).
///
/// The scheme is matched in any case, followed by one space and a token of the characters of RFC 9110 §11.2; the value
/// has at most 4 KiB (H211). Two `Authorization` headers are invalid.
package struct BearerToken: Equatable, Sendable {
    package let secret: [UInt8]

    /// Why a credential is rejected; no error text says whether a token exists.
    package enum Problem: Error, CaseIterable, Sendable {
        /// There is no `Authorization` header.
        case missing
        /// The scheme is not `Bearer`.
        case otherScheme
        /// There is no token, more than one, or one with invalid characters or length.
        case malformed
        /// The token is unknown, or it has been revoked or has expired.
        case unknown
    }

    package init(_ fields: Fields) throws(Problem) {
        guard fields.contains("Authorization") else { throw .missing }
        guard fields.occurrences(of: "Authorization") == 1,
            let line = fields.bytes("Authorization")
        else { throw .malformed }
        try self.init(line)
    }

    init(_ line: ArraySlice<UInt8>) throws(Problem) {
        let scheme = line.prefix { byte in byte != UInt8(ascii: " ") }
        guard scheme.map(Self.lowercased) == Array("bearer".utf8) else { throw .otherScheme }
        let token = line[scheme.endIndex...].dropFirst()
        let text = token.prefix(while: Self.isTokenCharacter)
        guard line.count <= 4096, !text.isEmpty,
            token.dropFirst(text.count).allSatisfy({ $0 == UInt8(ascii: "=") })
        else { throw .malformed }
        secret = Array(token)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/".utf8.contains(byte)
        }
    }
}

extension APIError {
    /// 401, with a challenge that names an error only where a token was sent (RFC 6750 section 3.1).
    package init(_ problem: BearerToken.Problem) {
        let (text, challenge) =
            switch problem {
            case .missing:
                (
                    "The request has no `Authorization` header; send `Authorization: Bearer {token}`.",
                    "Bearer"
                )
            case .otherScheme:
                (
                    "The scheme of the `Authorization` header must be `Bearer`, followed by a token.",
                    "Bearer"
                )
            case .malformed:
                (
                    """
                    The `Authorization` header must be `Bearer`, one space and one token of at most 4,089 \
                    characters.
                    """, #"Bearer error="invalid_token""#
                )
            case .unknown:
                (
                    "The token is unknown, revoked or expired.",
                    #"Bearer error="invalid_token""#
                )
            }
        self.init(.authenticationRequired, text, challenge: challenge)
    }
}
