/// What is wrong with a line of an export, of which nothing is kept then.
public struct MovedMistake: Error, Equatable, Sendable, CustomStringConvertible {
    /// The member at fault, as `parts.body`; `nil` for the line as a whole.
    public let field: String?
    /// What it has to be or must not be, to stand behind its name.
    public let rule: String

    /// A mistake.
    public init(_ field: String?, _ rule: String) {
        self.field = field
        self.rule = rule
    }

    /// For a person, without a full stop.
    public var description: String { (field.map { field in "\(field) " } ?? "") + rule }
}
