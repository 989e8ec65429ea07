/// A place in the metadata as patches and queries name it: `metadata.topic.colour` (platform-api §4).
public enum MetadataPathJSON {
    /// The keys from the root; `nil` for a text that names nothing below `metadata`.
    public static func read(_ text: String) -> [String]? {
        guard case .metadata(let path)? = PatchProperty(text), !path.isEmpty,
            path.allSatisfy({ key in !key.isEmpty })
        else { return nil }
        return path
    }
}
