public import JSON

extension PushNotificationJSON {
    /// What ``read(_:_:)`` reads.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "PushNotification",
            .object([
                RecipientsJSON.schema(version),
                .required("notification", NotificationJSON.schema(version)),
            ]))
    }
}
