public import JSON

extension MessagePartsJSON {
    /// A part as answers show it.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        MessagePartJSON.schema(version)
    }

    /// A part as requests bring it.
    public static let draftSchema = MessagePartJSON.draftSchema

    /// What ``draft(_:)`` reads: a part that keeps its names.
    public static let heldSchema = MessagePartJSON.heldSchema
}
