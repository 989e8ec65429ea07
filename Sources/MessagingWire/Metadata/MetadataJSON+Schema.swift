public import JSON

extension MetadataJSON {
    /// Objects of strings and objects (R40–R42).
    public static let schema = JSONSchema.named(
        "Metadata",
        .object([], others: .anyOf([.string(length: 0...2048), .reference("Metadata")]))
            .saying(
                """
                Strings of at most 2048 bytes and objects of the like, 32 levels deep and 256 KiB in \
                all; keys are letters, digits, `-` and `_`.
                """))
}
