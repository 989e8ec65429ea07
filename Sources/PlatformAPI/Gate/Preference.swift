import HTTP

extension Call {
    /// The answer to a `PATCH`: empty, or the object for who prefers that (X5, RFC 7240 §4.2).
    func patched(_ json: () -> [UInt8]) -> Reply {
        guard Preferences(request.fields)["return"] == "representation" else { return .noContent }
        return Reply(.ok, json()).adding("Preference-Applied", "return=representation")
    }
}
