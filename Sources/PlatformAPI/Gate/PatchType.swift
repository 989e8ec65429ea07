import MessagingWire

/// The media types a `PATCH` may come with (platform-api §1.2).
enum PatchType {
    /// The type the documentation names; `OPTIONS` shows it in `Accept-Patch`.
    static let name = "application/vnd.layer-patch+json"

    /// Whether a `Content-Type` names a patch; parameters do not matter.
    ///
    /// One page of the original documentation misspells the type, and one official client sends plain
    /// JSON with version 3.0: both are taken.
    static func accepts(_ contentType: String?, _ version: APIVersion) -> Bool {
        switch type(of: contentType) {
        case name, "application/vnd.layer-patch.json": return true
        case "application/json": return version == .v3_0
        default: return false
        }
    }

    /// Whether a `Content-Type` names the JSON Patch of RFC 6902, which this server does not read.
    static func isJSONPatch(_ contentType: String?) -> Bool {
        type(of: contentType) == "application/json-patch+json"
    }

    /// An operation of a Layer-Patch, for error texts.
    static let example = #"{"operation":"set","property":"metadata.topic","value":"rent"}"#

    /// The type without parameters, in lower case.
    private static func type(of contentType: String?) -> String? {
        contentType?.prefix { character in character != ";" }
            .filter { character in character != " " && character != "\t" }.lowercased()
    }
}
