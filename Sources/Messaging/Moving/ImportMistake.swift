/// What is wrong with a line of an import; all lines before it are durable, and nothing of it is kept.
public struct ImportMistake: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number of the line; the first is 1.
    public let line: Int
    /// What is wrong with it.
    public let mistake: MovedMistake

    /// A mistake on a line.
    public init(_ mistake: MovedMistake, line: Int) {
        self.line = line
        self.mistake = mistake
    }

    /// For a person, without a full stop.
    public var description: String { "line \(line): \(mistake)" }
}
