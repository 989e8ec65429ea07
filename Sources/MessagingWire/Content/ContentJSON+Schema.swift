public import JSON

extension ContentJSON {
    /// Content that can be downloaded.
    public static let schema = JSONSchema.named(
        "Content",
        .object(
            [
                .required("id", .identifier(.content)),
                .required("size", .integer(0 ... .max)),
                .required("download_url", .url),
                .required("refresh_url", .url),
                .required("expiration", .time),
            ] + TransferJSON.members))

    /// Content in every state, for who asks how far it has come (X7).
    public static let anySchema = JSONSchema.anyOf([
        schema,
        .named(
            "AwaitedContent",
            .object(
                [
                    .required("id", .identifier(.content)),
                    .required("size", JSONSchema.integer(0 ... .max).orNull),
                    .required("download_url", .null),
                    .required("refresh_url", .null),
                    .required("expiration", .null),
                ] + TransferJSON.members)),
    ])

    /// Content that waits for its bytes.
    public static let announcedSchema = JSONSchema.named(
        "AnnouncedContent",
        .object([
            .required("id", .identifier(.content)),
            .required("size", .integer(0 ... .max)),
            .required("upload_url", .url),
            .required("download_url", .null),
            .required("refresh_url", .null),
            .required("expiration", .null),
        ]))
}
