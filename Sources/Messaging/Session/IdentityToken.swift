/// Why an identity token is rejected; raw values are the diagnostics that answers show (client-api §2.2).
public enum IdentityTokenProblem: String, Error, CaseIterable, Sendable {
    /// The token does not have three parts.
    case wrongPartCount = "eit_wrong_jws_part_count"
    /// A part is not base64url without padding.
    case malformedBase64URL = "eit_malformed_base64url"
    /// The header or the claims are not a JSON object.
    case malformedJSON = "eit_malformed_json"
    /// A parameter of the header is missing.
    case headerParameterNotFound = "eit_header_param_not_found"
    /// A parameter of the header is not a string.
    case headerParameterWrongType = "eit_header_param_wrong_type"
    /// A parameter of the header has another value than the required one.
    case headerParameterWrongValue = "eit_header_param_wrong_value"
    /// `kid` is not the id of a key.
    case keyMalformed = "eit_key_malformed"
    /// There is no such key.
    case keyNotFound = "eit_key_not_found"
    /// The key has been deleted.
    case keyDeleted = "eit_key_deleted"
    /// The key is disabled.
    case keyDisabled = "eit_key_disabled"
    /// A required claim is missing.
    case claimNotFound = "eit_claim_not_found"
    /// A claim has a value of another type, or one that is not allowed.
    case claimWrongType = "eit_claim_wrong_type"
    /// There is no such provider.
    case providerNotFound = "eit_provider_not_found"
    /// The provider belongs to another application, or the key to another provider.
    case providerNotBound = "eit_provider_not_bound_to_app"
    /// The signature is not that of the key.
    case signatureVerificationFailed = "eit_signature_verification_failed"
    /// The token has expired.
    case expired = "eit_expired"
    /// The token is issued in the future.
    case notBefore = "eit_not_before"
    /// The nonce is not one of this server, is older than ten minutes, or was used before.
    case nonceNotFound = "eit_nonce_not_found"
    /// The user is suspended.
    case userSuspended = "eit_user_suspended"
}

/// The claims of an identity token (client-api §2.2).
public struct IdentityClaims: Equatable, Sendable {
    /// The user, `prn`.
    public let user: UserID
    /// The provider that issued the token, `iss`; `nil` for a text that is no provider's id.
    public let provider: Provider.ID?
    /// When the token was issued, in seconds since 1970 UTC: `iat`.
    public let issuedAt: Int64
    /// When the token expires, in seconds since 1970 UTC: `exp`.
    public let expiresAt: Int64
    /// The nonce that the client received, `nce`.
    public let nonce: String
    /// The profile claims, as operations on the user's identity.
    public let profile: [IdentityPatch]

    /// By how many seconds the clocks of the provider and of this server may differ.
    public static let leeway: Int64 = 60

    /// All members.
    public init(
        user: UserID, provider: Provider.ID?, issuedAt: Int64, expiresAt: Int64, nonce: String,
        profile: [IdentityPatch]
    ) {
        self.user = user
        self.provider = provider
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.nonce = nonce
        self.profile = profile
    }

    /// Checks that the token has not expired and is not issued in the future, with ``leeway``.
    public func checkTimes(at now: Timestamp) throws(IdentityTokenProblem) {
        let seconds = now.milliseconds / 1000
        guard expiresAt > seconds - Self.leeway else { throw .expired }
        guard issuedAt <= seconds + Self.leeway else { throw .notBefore }
    }
}
