public import JSON
import Messaging

/// The outline all patches have: an array of operations, or one of them (platform-api §4).
public enum PatchJSON {
    /// Whether a body has the outline of a patch: an array of objects, or one object.
    public static func isPatch(_ body: JSONValue) -> Bool {
        switch body.kind {
        case .object: true
        case .array: body.elements.allSatisfy { $0.kind == .object }
        default: false
        }
    }

    /// Reads each operation in order.
    static func read<Operation>(
        _ body: JSONValue, _ read: (PatchOperation) throws(Rejection) -> Operation
    ) throws(Rejection) -> [Operation] {
        guard body.kind == .array else { return [try read(PatchOperation(body))] }
        var operations: [Operation] = []
        for element in body.elements { operations.append(try read(PatchOperation(element))) }
        return operations
    }
}
