/// Why TLS cannot be served as configured: one line for a person (H165, H166).
public struct TLSFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, with the name of the file and without a full stop.
    public let description: String

    init(_ description: String) { self.description = description }
}
