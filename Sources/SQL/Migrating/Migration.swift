/// One step of the schema, written once and never changed after a release.
public struct Migration: Hashable, Sendable {
    /// Its place in the history, from 1 upwards.
    public let number: Int

    /// What it does, for people; recorded with the number.
    public let name: String

    /// What is run, in one transaction.
    public let statements: [SQL]

    /// Makes a migration; each statement stands alone.
    public init(number: Int, name: String, statements: [SQL]) {
        self.number = number
        self.name = name
        self.statements = statements
    }
}
