extension Identity {
    /// Decides a patch: all operations in order, then the whole is judged and compared.
    ///
    /// - Returns: `nil` when the identity comes out as it was.
    /// - Throws: `invalid("metadata")` for more than 16 keys at the end (R49).
    public func patching(_ patches: [IdentityPatch]) throws(Rejection) -> Event? {
        let after = patched(by: patches)
        try Identity.check(after.metadata, as: "metadata")
        guard after != self else { return nil }
        return .identityPatched(IdentityPatched(user: userID, patches: patches))
    }

    /// The identity after some operations.
    public func patched(by patches: [IdentityPatch]) -> Identity {
        var identity = self
        for patch in patches {
            switch patch {
            case .set(let member, let text): identity[member] = text
            case .setKind(let kind): identity.kind = kind
            case .setMetadata(let metadata): identity.metadata = metadata
            case .setMetadataKey(let key, let text): identity.metadata[key] = text
            case .deleteMetadataKey(let key): identity.metadata[key] = nil
            }
        }
        return identity
    }
}
