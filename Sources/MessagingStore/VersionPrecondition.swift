/// The versions of an object that a change accepts (`If-Match`, X4).
///
/// It is a predicate and not a number, because a request may name several versions.
public struct VersionPrecondition: Sendable {
    /// `nil`: every version, and no object at all.
    private let accepts: (@Sendable (Int64) -> Bool)?

    /// Creates a precondition.
    ///
    /// - Parameter accepts: Returns whether a version is accepted.
    public init(_ accepts: @escaping @Sendable (Int64) -> Bool) {
        self.accepts = accepts
    }

    private init() {
        accepts = nil
    }

    /// No condition: accepts every version, and an object that does not exist.
    public static let any = VersionPrecondition()

    /// Whether an object that does not exist may be created: not under any condition (RFC 9110 §13.1.1).
    var allowsCreation: Bool { accepts == nil }

    /// Checks the version of an object. Call it after authorization and before the change is decided (ruling 3).
    ///
    /// - Parameter current: Reads the current object for the error; called only on a mismatch.
    /// - Throws: ``VersionMismatch``.
    func check<Object: Sendable>(_ version: Int64, _ current: () throws -> Object) throws {
        guard let accepts, !accepts(version) else { return }
        throw VersionMismatch(current: try current())
    }
}

/// An error: the object has another version than the caller requires, and nothing was changed (X4).
public struct VersionMismatch<Object: Sendable>: Error {
    /// The current object.
    public let current: Object
}
