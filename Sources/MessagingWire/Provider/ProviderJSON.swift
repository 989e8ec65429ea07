public import JSON
public import Messaging

/// Providers of identity tokens and their keys in requests and answers, the same in every version (X14).
public enum ProviderJSON {
    /// Reads the name of a new provider.
    ///
    /// - Parameter body: An object; unknown members are ignored.
    public static func readName(_ body: JSONValue) throws(Rejection) -> String {
        guard let value = body.present("name") else { throw .missing("name") }
        guard let name = value.string, !name.isEmpty, name.isStorable,
            name.unicodeScalars.prefix(Provider.nameLimit + 1).count <= Provider.nameLimit
        else { throw .invalid("name", .providerName) }
        return name
    }

    /// Reads the PEM text of a new key, which is not parsed here.
    ///
    /// - Parameter body: An object; unknown members are ignored.
    public static func readKey(_ body: JSONValue) throws(Rejection) -> String {
        guard let value = body.present("public_key") else { throw .missing("public_key") }
        guard let text = value.string else { throw .invalid("public_key", .providerKeyText) }
        return text
    }

    /// Reads a change of a key: a Layer-Patch that sets `disabled`, or an object with that member; `nil` for an empty
    /// patch.
    public static func readKeyPatch(_ body: JSONValue) throws(Rejection) -> Bool? {
        if body.kind == .object, body["operation"] == nil, let value = body.present("disabled") {
            guard let isDisabled = value.bool else {
                throw .invalid("disabled", .providerKeyDisabled)
            }
            return isDisabled
        }
        return try PatchJSON.read(body) { operation throws(Rejection) in
            guard operation.property == "disabled" else {
                throw operation.unknownProperty(.providerKeyProperty)
            }
            try operation.requireSet()
            guard let isDisabled = try operation.operand().bool else {
                throw operation.invalidOperand(.providerKeyDisabled)
            }
            return isDisabled
        }.last
    }

    /// Returns a provider.
    public static func bytes(_ provider: Provider) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        write(provider, into: &writer)
        return writer.finish()
    }

    /// Returns a list of providers.
    public static func bytes(_ providers: [Provider]) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.array { writer in
            for provider in providers { write(provider, into: &writer) }
        }
        return writer.finish()
    }

    /// Returns a key.
    public static func bytes(_ key: ProviderKey) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in writeMembers(of: key, into: &writer) }
        return writer.finish()
    }

    private static func write(_ provider: Provider, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(provider.id, in: .providers))
            writer.member("name", provider.name)
            writer.member("created_at", TimestampJSON.text(provider.createdAt))
            writer.key("keys")
            writer.array { writer in
                for key in provider.keys {
                    writer.object { writer in writeMembers(of: key, into: &writer) }
                }
            }
        }
    }

    static func writeMembers(of key: ProviderKey, into writer: inout JSONWriter) {
        writer.member("id", IdentifierJSON.text(key.id, in: .keys))
        writer.member("algorithm", key.algorithm.rawValue)
        writer.member("created_at", TimestampJSON.text(key.createdAt))
        writer.member("disabled", key.isDisabled)
    }
}

extension ProviderJSON {
    /// The schema of what ``readName(_:)`` reads.
    public static let draftSchema = JSONSchema.named(
        "ProviderDraft", .object([.required("name", .storable(length: 1...Provider.nameLimit))]))

    /// The schema of what ``readKey(_:)`` reads.
    public static let keyDraftSchema = JSONSchema.named(
        "ProviderKeyDraft",
        .object([
            .required(
                "public_key",
                JSONSchema.string.withDescription(
                    "PEM: RSA of 2048 bits or more, P-256, or Ed25519."))
        ]))

    /// The schema of what ``readKeyPatch(_:)`` reads.
    public static let keyPatchSchema = JSONSchema.named(
        "ProviderKeyPatch",
        .array(
            of: .object([
                .required("operation", .choice(["set"])),
                .required("property", .choice(["disabled"])), .required("value", .boolean),
            ])))

    /// The schema of a key.
    public static let keySchema = JSONSchema.named(
        "ProviderKey",
        .object([
            .required("id", .identifier(.keys)),
            .required("algorithm", .choice(ProviderKey.Algorithm.allCases.map(\.rawValue))),
            .required("created_at", .time),
            .required("disabled", .boolean),
        ]))

    /// The schema of a provider.
    public static let schema = JSONSchema.named(
        "Provider",
        .object([
            .required("id", .identifier(.providers)),
            .required("name", .storable(length: 1...Provider.nameLimit)),
            .required("created_at", .time),
            .required("keys", .array(of: keySchema)),
        ]))
}
