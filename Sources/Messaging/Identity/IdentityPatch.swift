/// One operation on an identity (platform-api §5.7).
public enum IdentityPatch: Equatable, Sendable {
    /// Sets a text.
    case set(Identity.Member, String)
    /// Says whether the user is a person or a program.
    case setKind(Identity.Kind)
    /// Replaces all metadata.
    case setMetadata([String: String])
    /// Sets one key of the metadata.
    case setMetadataKey(String, String)
    /// Removes one key of the metadata; an absent one is no mistake.
    case deleteMetadataKey(String)
}
