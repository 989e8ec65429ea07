public import JSON
import Messaging

extension IdentityJSON {
    /// An identity as answers show it, the same in every version.
    public static let schema = JSONSchema.named(
        "Identity",
        .object(
            [
                .required("id", UserIDJSON.identitySchema),
                .required("url", .url),
                .required("user_id", UserIDJSON.bareSchema),
            ] + Identity.Member.allCases.map { .required($0.rawValue, text($0).orNull) } + [
                .required("identity_type", kindSchema),
                .required("metadata", metadataSchema),
            ]))

    /// What ``read(_:of:)`` reads.
    public static let draftSchema = JSONSchema.named(
        "IdentityDraft",
        .object(
            Identity.Member.allCases.map { member in
                member == .displayName
                    ? .required(member.rawValue, .storable(length: 1...128))
                    : .optional(member.rawValue, text(member))
            } + [
                .optional("identity_type", kindSchema),
                .optional("metadata", metadataSchema),
            ]))

    static let kindSchema = JSONSchema.choice(Identity.Kind.allCases.map(\.rawValue))

    static let metadataSchema = JSONSchema.object([], others: .string(length: 0...2048))
        .saying("At most 16 strings of 2048 bytes; keys are letters, digits, `-` and `_`.")

    /// The text of a member; a display name that was never told is `null` and never empty.
    static func text(_ member: Identity.Member) -> JSONSchema {
        .storable(length: 0...(member.limit ?? .max))
    }
}
