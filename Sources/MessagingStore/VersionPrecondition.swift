/// What a caller demands of an object's version before it is changed (`If-Match`, X4).
///
/// A predicate and not a number, because one request may accept several versions.
public struct VersionPrecondition: Sendable {
    private let accepts: @Sendable (Int64) -> Bool

    /// A demand.
    ///
    /// - Parameter accepts: Judges the version the object has at the moment of the change.
    public init(_ accepts: @escaping @Sendable (Int64) -> Bool) {
        self.accepts = accepts
    }

    /// Whatever is there.
    public static let any = VersionPrecondition { _ in true }

    /// Judges an object after access to it is clear and before anything is decided (rulings 3).
    ///
    /// - Parameter current: The object as it is, for who was late; read only then.
    /// - Throws: ``VersionMismatch``.
    func check<Object: Sendable>(_ version: Int64, _ current: () throws -> Object) throws {
        guard !accepts(version) else { return }
        throw VersionMismatch(current: try current())
    }
}

/// An object has changed since the version the caller knows; nothing was done (X4).
public struct VersionMismatch<Object: Sendable>: Error {
    /// The object as it is.
    public let current: Object
}
