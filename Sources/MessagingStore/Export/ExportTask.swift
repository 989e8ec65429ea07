public import Messaging

/// An export that somebody has to work on.
public struct ExportTask: Equatable, Sendable {
    /// What is to be done.
    public enum Kind: String, Sendable {
        /// Its archive is to be made.
        case write
        /// Its archive is to be removed.
        case erase
    }

    /// Whose export it is.
    public let application: Application.ID
    /// The export.
    public let export: Export
    /// What is to be done.
    public let kind: Kind
}
