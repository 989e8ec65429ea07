internal import Bytes
internal import JSON
public import Messaging

/// An identity token: a JSON Web Token in compact serialisation (client-api §2.2, RFC 7519).
///
/// Its checks are made in the order of client-api §2.2; the first failure decides. ``init(_:)`` makes the checks 1 to 4,
/// ``keyID()`` and ``claims()`` those that follow without a look-up.
public struct IdentityTokenJSON: Sendable {
    /// The algorithm of its header.
    public let algorithm: ProviderKey.Algorithm
    /// What the signature signs: the first two parts with the dot between them.
    public let signedBytes: [UInt8]
    /// The signature.
    public let signature: [UInt8]
    private let keyName: String
    private let payload: JSONValue

    /// Parses a token and its header.
    public init(_ text: String) throws(IdentityTokenProblem) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .wrongPartCount }
        var decoded: [[UInt8]] = []
        for part in parts {
            guard let bytes = Base64.decodeForURL(Substring(part)) else {
                throw .malformedBase64URL
            }
            decoded.append(bytes)
        }
        let (header, claims) = (try Self.object(decoded[0]), try Self.object(decoded[1]))
        try Self.require("JWT", "typ", in: header)
        let algorithm = ProviderKey.Algorithm(
            rawValue: try Self.parameter("alg", in: header))
        guard let algorithm else { throw .headerParameterWrongValue }
        try Self.require("layer-eit;v=1", "cty", in: header)
        keyName = try Self.parameter("kid", in: header)
        self.algorithm = algorithm
        signedBytes = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
        signature = decoded[2]
        payload = claims
    }

    /// Returns the id of the key in `kid`.
    public func keyID() throws(IdentityTokenProblem) -> ProviderKey.ID {
        guard let id: ProviderKey.ID = IdentifierJSON.read(keyName, in: .keys) else {
            throw .keyMalformed
        }
        return id
    }

    /// Reads the claims: the required ones, then those of the profile.
    public func claims() throws(IdentityTokenProblem) -> IdentityClaims {
        let provider = try text("iss")
        guard let user = UserID(try text("prn")) else { throw .claimWrongType }
        let (issuedAt, expiresAt) = (try number("iat"), try number("exp"))
        let nonce = try text("nce")
        return IdentityClaims(
            user: user, provider: IdentifierJSON.read(provider, in: .providers),
            issuedAt: issuedAt, expiresAt: expiresAt, nonce: nonce, profile: try profile())
    }

    private func profile() throws(IdentityTokenProblem) -> [IdentityPatch] {
        var patches: [IdentityPatch] = []
        for member in Identity.Member.allCases {
            guard let value = payload.present(member.rawValue) else { continue }
            guard let text = value.string, (try? member.check(text, as: member.rawValue)) != nil
            else { throw .claimWrongType }
            patches.append(.set(member, text))
        }
        if let value = payload.present("metadata") {
            guard value.kind == .object,
                let metadata = try? IdentityJSON.metadata(value, at: "metadata", as: "metadata"),
                (try? Identity.check(metadata, as: "metadata")) != nil
            else { throw .claimWrongType }
            patches.append(.setMetadata(metadata))
        }
        return patches
    }

    private func text(_ name: String) throws(IdentityTokenProblem) -> String {
        guard let value = payload.present(name) else { throw .claimNotFound }
        guard let text = value.string else { throw .claimWrongType }
        return text
    }

    private func number(_ name: String) throws(IdentityTokenProblem) -> Int64 {
        guard let value = payload.present(name) else { throw .claimNotFound }
        guard let number = value.integer else { throw .claimWrongType }
        return number
    }

    private static func object(_ bytes: [UInt8]) throws(IdentityTokenProblem) -> JSONValue {
        guard let root = (try? JSONDocument(bytes))?.root, root.kind == .object else {
            throw .malformedJSON
        }
        return root
    }

    private static func parameter(
        _ name: String, in header: JSONValue
    ) throws(IdentityTokenProblem) -> String {
        guard let value = header.present(name) else { throw .headerParameterNotFound }
        guard let text = value.string else { throw .headerParameterWrongType }
        return text
    }

    private static func require(
        _ expected: String, _ name: String, in header: JSONValue
    ) throws(IdentityTokenProblem) {
        guard try parameter(name, in: header).utf8.elementsEqual(expected.utf8) else {
            throw .headerParameterWrongValue
        }
    }
}
