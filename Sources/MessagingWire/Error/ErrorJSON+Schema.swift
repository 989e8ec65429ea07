public import JSON

extension ErrorJSON {
    /// The error object (platform-api §2.1).
    public static let schema = JSONSchema.named(
        "Error",
        .object([
            .required("id", .choice(APIErrorTable.allCases.map { $0.row.id.description })),
            .required("code", .integer(1 ... .max)),
            .required("message", JSONSchema.string.saying("One sentence for developers.")),
            .required("url", .url),
            .optional(
                "data",
                JSONSchema.object([]).saying(
                    "The `property` or `header` at fault, or the object that stands in the way.")),
        ]))
}
