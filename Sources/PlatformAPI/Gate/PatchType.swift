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
        guard let contentType else { return false }
        let type = contentType.prefix { character in character != ";" }
            .filter { character in character != " " && character != "\t" }.lowercased()
        switch type {
        case name, "application/vnd.layer-patch.json": return true
        case "application/json": return version == .v3_0
        default: return false
        }
    }
}
