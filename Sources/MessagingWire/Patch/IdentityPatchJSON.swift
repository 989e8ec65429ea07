public import JSON
public import Messaging

/// The body of `PATCH …/identity`: Layer-Patch (platform-api §4, §5.7).
public enum IdentityPatchJSON {
    /// Reads the operations in their order; one object is an array of one.
    public static func read(_ body: JSONValue) throws(Rejection) -> [IdentityPatch] {
        try PatchJSON.read(body, patch)
    }

    private static func patch(_ operation: PatchOperation) throws(Rejection) -> IdentityPatch {
        let path = PatchProperty.split(operation.property)
        if path[0] == "metadata" { return try metadata(operation, path.dropFirst()) }
        guard path.count == 1 else { throw operation.unknownProperty(.identityProperty) }
        if IdentityJSON.kindNames.contains(path[0]) {
            try operation.requireSet()
            guard let kind = IdentityJSON.kind(try operation.text()) else {
                throw .invalid(operation.property, .identityKind)
            }
            return .setKind(kind)
        }
        guard let member = Identity.Member(rawValue: path[0]) else {
            throw operation.unknownProperty(.identityProperty)
        }
        try operation.requireSet()
        let text = try operation.text()
        try member.check(text, as: operation.property)
        return .set(member, text)
    }

    private static func metadata(
        _ operation: PatchOperation, _ path: ArraySlice<String>
    ) throws(Rejection) -> IdentityPatch {
        let name = operation.property
        // Flat: a path into a text would make an object of it (R49).
        guard path.count <= 1 else { throw .invalid(name, .identityMetadataPath) }
        try MetadataTree.check(path: Array(path), as: name)
        switch operation.verb {
        case .set:
            let operand = try operation.operand()
            guard let key = path.first else {
                guard let metadata = IdentityJSON.metadata(operand) else {
                    throw operation.invalidOperand(.operandIdentityMetadata)
                }
                try Identity.check(metadata, as: name)
                return .setMetadata(metadata)
            }
            guard let text = operand.string else { throw operation.invalidOperand(.operandText) }
            try MetadataTree.text(text).check(as: name)
            return .setMetadataKey(key, text)
        case .delete:
            try operation.refuseIndex()
            guard let key = path.first else { return .setMetadata([:]) }
            return .deleteMetadataKey(key)
        case .add, .remove: throw .invalid(name, .verbOfMetadata)
        }
    }
}
