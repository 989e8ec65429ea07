/// Why a command could not do its work: one line for a person, nothing of our insides.
public struct StartFailure: Error, CustomStringConvertible {
    /// The line, without the program's name and without a full stop.
    public let description: String

    /// Says it.
    public init(_ description: String) { self.description = description }
}
