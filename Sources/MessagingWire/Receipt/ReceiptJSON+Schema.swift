public import JSON

extension ReceiptJSON {
    /// What ``read(_:)`` reads.
    public static let schema = JSONSchema.named(
        "Receipt", .object([.required("type", .choice(["delivery", "read"]))]))
}
